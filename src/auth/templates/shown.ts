/** Templates as the management surface shows them. */
import { checkTemplate, faultText, type TemplateVariable } from '../../wire/templates.ts'
import { type KnownTemplate, partsOf, type Texts } from '../mail/catalogue.ts'
import { commonExamples } from '../mail/templates.ts'

export interface ListedTemplate {
  key: string
  channel: KnownTemplate['channel']
  origin: KnownTemplate['origin']
  /** The language of the texts. */
  locale: string
  subject: string | null
  customised: boolean
  variables: TemplateVariable[]
  etag: string
  updated_at: string | null
  updated_by: string | null
}

export interface ShownTemplate extends ListedTemplate {
  body: string
  body_text: string | null
  default: Texts
  /** Faults of changed texts: the project may have declared other variables since. */
  problems: string[]
}

/** The language of every template of this version. */
export const locale = 'en'

export function listed(template: KnownTemplate): ListedTemplate {
  const { key, channel, origin, changed, variables, etag, updated_at, updated_by } = template
  return {
    key,
    channel,
    origin,
    locale,
    subject: partsOf(template).subject,
    customised: changed !== null,
    variables: [...variables, ...commonExamples],
    etag,
    updated_at: updated_at?.toISOString() ?? null,
    updated_by,
  }
}

export function shown(template: KnownTemplate): ShownTemplate {
  const { body, body_text } = partsOf(template)
  const faults = template.changed ? checkTemplate(partsOf(template), template.variables) : []
  const problems = faults.map((fault) => `${fault.field}, ${faultText(fault)}`)
  return { ...listed(template), body, body_text, default: template.default, problems }
}
