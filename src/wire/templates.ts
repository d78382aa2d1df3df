/**
 * Templates of messages: their variables and what is wrong with one. The auth module checks changed templates with these functions, and
 * the command line the templates that a project declares in `stack/templates`.
 */
import { checkMailHtml } from './mail-html.ts'
import { nearest } from './nearest.ts'
import { InvalidDeclaration, readObject } from './project.ts'

export type Channel = 'email' | 'sms'

export interface TemplateParts {
  channel: Channel
  /** `null` for a text message. */
  subject: string | null
  /** HTML of a mail, without the frame around it. The text of a text message. */
  body: string
  /** The mail as plain text. Where it is `null`, the text is made of the HTML. */
  body_text: string | null
}

export interface TemplateVariable {
  name: string
  /** The body must show it, and a message must give it. */
  required: boolean
  /** Stands for the value in a preview and in a test. */
  example: string
}

/** A template that the project declares. */
export interface DeclaredTemplate extends TemplateParts {
  key: string
  /** Beside those of every template. */
  variables: TemplateVariable[]
}

/** Something wrong with a part of a template. */
export interface TemplateFault {
  field: 'subject' | 'body' | 'body_text'
  /** Counts from 1. */
  line: number
  /** Counts UTF-16 units from 1, as editors do. */
  column: number
  reason: string
}

/** Keys of the module's own templates. This is the whole list: a project cannot declare one of them. */
export const builtInTemplates = [
  'confirm_email',
  'existing_account',
  'magic_link',
  'sign_in_code',
  'reset_password',
  'invite',
  'email_change_confirm',
  'email_change_notice',
  'reauthentication',
  'password_changed',
  'email_changed',
  'phone_changed',
  'identity_linked',
  'identity_unlinked',
  'mfa_enrolled',
  'mfa_removed',
  'recovery_code_used',
  'new_sign_in',
  'session_reuse_detected',
  'account_locked',
  'phone_otp',
  'phone_change_otp',
] as const

/** Variables that every template may use. The stack gives their values. */
export const commonVariables = ['site_name', 'site_url', 'email', 'user_id', 'locale', 'support_email'] as const

/** The key of a template, and the name of a variable. The check constraints of the tables are the same pattern. */
export const templateName = /^[a-z][a-z0-9_]{0,62}$/

/** Bytes of one part in UTF-8. */
const largestPart = 65_536

/** Characters of a text message: networks split a longer one into more than ten parts. */
const longestText = 1_600

/** Characters of a subject: mail programs show about 70, and a server may refuse a line of 998 bytes (RFC 5322 section 2.1.1). */
const longestSubject = 200

/** Variables of one part, counted each time. Values may be long, so this bounds the message. */
const mostUses = 100

/** Variables that a template declares. */
const mostVariables = 50

/** Characters of an example. */
const longestExample = 200

/** Faults that are reported of one part: an answer holds them all. */
const mostFaults = 20

/** Templates that a project may declare. */
export const mostTemplates = 200

const variable = /\{\{[\t ]*([a-z][a-z0-9_]{0,62})[\t ]*\}\}/y

/** A place of a template that begins like a variable. `name` is absent where it is none. */
interface Use {
  at: number
  end: number
  name?: string
}

function usesOf(text: string): Use[] {
  const uses: Use[] = []
  for (let at = text.indexOf('{{'); at !== -1; at = text.indexOf('{{', uses.at(-1)!.end)) {
    variable.lastIndex = at
    const [whole, name] = variable.exec(text) ?? []
    uses.push(name === undefined ? { at, end: at + 2 } : { at, end: at + whole!.length, name })
  }
  return uses
}

/** Whether the text shows a variable. */
export function usesVariable(text: string, name: string): boolean {
  return usesOf(text).some((use) => use.name === name)
}

/** Replaces each variable. @param read gets its name, and its offset in the text. */
export function replaceVariables(text: string, read: (name: string, at: number) => string): string {
  let result = ''
  let from = 0
  for (const { at, end, name } of usesOf(text)) {
    result += text.slice(from, at) + (name === undefined ? text.slice(at, end) : read(name, at))
    from = end
  }
  return result + text.slice(from)
}

/**
 * Checks the parts of a template.
 *
 * @param variables those that it may use, without the common ones.
 * @returns what is wrong, in the order of subject, body and text.
 */
export function checkTemplate(
  { channel, subject, body, body_text }: TemplateParts,
  variables: readonly Pick<TemplateVariable, 'name' | 'required'>[],
): TemplateFault[] {
  const isMail = channel === 'email'
  const faults: TemplateFault[] = []
  const add = (field: TemplateFault['field'], text: string, found: Found[]) => {
    const sorted = found.sort((one, other) => one.at - other.at).slice(0, mostFaults)
    faults.push(...sorted.map(({ at, reason }) => ({ field, ...placeOf(text, at), reason })))
  }
  if (!isMail && subject !== null) add('subject', '', [{ at: 0, reason: 'a text message has no subject' }])
  if (!isMail && body_text !== null) add('body_text', '', [{ at: 0, reason: 'the body of a text message is its text' }])
  if (isMail) add('subject', subject ?? '', subjectFaults(subject ?? '', variables))
  add('body', body, bodyFaults(body, variables, isMail ? 'html' : 'sms'))
  if (isMail && body_text !== null) add('body_text', body_text, bodyFaults(body_text, variables, 'text'))
  return faults
}

/** A fault as one sentence. */
export function faultText({ line, column, reason }: TemplateFault): string {
  return `line ${line}, column ${column}: ${reason}`
}

interface Found {
  at: number
  reason: string
}

type Known = readonly Pick<TemplateVariable, 'name' | 'required'>[]

function subjectFaults(text: string, variables: Known): Found[] {
  if (text.trim() === '') return [{ at: 0, reason: 'a mail needs a subject' }]
  if (text.length > longestSubject) return [{ at: 0, reason: `a subject has ${longestSubject} characters at most` }]
  const control = /[\p{Cc}\p{Zl}\p{Zp}]/u.exec(text)
  const controls = control ? [{ at: control.index, reason: 'a subject is one line without control characters' }] : []
  return [...controls, ...formFaults(text), ...useFaults(text, variables)]
}

function bodyFaults(text: string, variables: Known, form: 'html' | 'text' | 'sms'): Found[] {
  if (text.trim() === '') return [{ at: 0, reason: 'the part is empty' }]
  if (form === 'sms' && text.length > longestText)
    return [{ at: 0, reason: `a text message has ${longestText} characters at most` }]
  // without an encoder: a UTF-16 unit has at most 3 bytes
  if (text.length > largestPart || new TextEncoder().encode(text).length > largestPart)
    return [{ at: 0, reason: `a part has ${largestPart} bytes at most` }]
  const control = /[^\P{Cc}\t\n\r]/u.exec(text)
  const controls = control ? [{ at: control.index, reason: 'control characters are refused' }] : []
  const uses = usesOf(text)
  const missing = variables.filter(({ name, required }) => required && !uses.some((use) => use.name === name))
  const at = uses.map((use) => use.at)
  return [
    ...controls,
    ...formFaults(text),
    ...useFaults(text, variables),
    ...(form === 'html' ? checkMailHtml(text, at) : []),
    ...missing.map(({ name }) => ({ at: text.length, reason: `the required variable {{${name}}} is missing` })),
  ]
}

function formFaults(text: string): Found[] {
  return text.isWellFormed() ? [] : [{ at: 0, reason: 'the text holds half of a surrogate pair' }]
}

function useFaults(text: string, variables: Known): Found[] {
  const uses = usesOf(text)
  if (uses.length > mostUses) return [{ at: uses[mostUses]!.at, reason: `a part has ${mostUses} variables at most` }]
  const names: string[] = [...variables.map(({ name }) => name), ...commonVariables]
  return uses.flatMap(({ at, name }): Found[] => {
    if (name === undefined) {
      const form = 'a variable is {{name}}, of lowercase letters, digits and underscores: a template has no logic'
      return [{ at, reason: `"{{" begins no variable here: ${form}` }]
    }
    if (names.includes(name)) return []
    const near = nearest(name, names)
    return [{ at, reason: `unknown variable "${name}"${near ? `: did you mean "${near}"?` : knownNames(names)}` }]
  })
}

const knownNames = (names: readonly string[]) => `: the variables are ${names.join(', ')}`

function placeOf(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at).split(/\r\n?|\n/)
  return { line: before.length, column: before.at(-1)!.length + 1 }
}

type Path = readonly (string | number)[]

/**
 * Parses a file of `stack/templates`, or the body of the route that declares a template.
 *
 * @param named its key, unless the document has one.
 * @throws InvalidDeclaration for the first value that breaks a rule.
 */
export function readTemplate(json: unknown, named: string): DeclaredTemplate {
  const document = readObject(json, [], ['$schema', 'key', 'channel', 'subject', 'body', 'body_text', 'variables'])
  const { key = named, channel, subject = null, body, body_text = null, variables = [] } = document
  if (typeof key !== 'string' || !templateName.test(key))
    throw new InvalidDeclaration(
      ['key'],
      'the key is the name of the file or "key": 1 to 63 lowercase letters, digits and underscores, a letter first',
    )
  if (builtInTemplates.some((one) => one === key))
    throw new InvalidDeclaration(['key'], `"${key}" is a template of the stack itself: choose another key`)
  if (channel !== 'email' && channel !== 'sms')
    throw new InvalidDeclaration(['channel'], '"channel" must be "email" or "sms"')
  requireText(subject, 'subject', channel === 'email')
  requireText(body, 'body', true)
  requireText(body_text, 'body_text', false)
  const declared = readVariables(variables)
  const template = { key, channel, subject, body, body_text, variables: declared } as DeclaredTemplate
  const [fault] = checkTemplate(template, declared)
  if (fault) throw new InvalidDeclaration([fault.field], `"${fault.field}", ${faultText(fault)}`)
  return template
}

function requireText(value: unknown, name: string, isRequired: boolean): void {
  if (typeof value === 'string' || (value === null && !isRequired)) return
  throw new InvalidDeclaration([name], `"${name}" must be a text`)
}

function readVariables(json: unknown): TemplateVariable[] {
  if (!Array.isArray(json)) throw new InvalidDeclaration(['variables'], '"variables" must be a list')
  if (json.length > mostVariables)
    throw new InvalidDeclaration(['variables'], `a template declares ${mostVariables} variables at most`)
  const variables: TemplateVariable[] = []
  for (const [index, item] of json.entries()) {
    const variable = readVariable(item, ['variables', index])
    if (variables.some(({ name }) => name === variable.name))
      throw new InvalidDeclaration(['variables', index, 'name'], `the variable "${variable.name}" is declared twice`)
    variables.push(variable)
  }
  return variables
}

function readVariable(json: unknown, path: Path): TemplateVariable {
  const document = readObject(json, path, ['name', 'required', 'example'])
  const { name, required = false, example = name } = document
  if (typeof name !== 'string' || !templateName.test(name))
    throw new InvalidDeclaration(
      [...path, 'name'],
      '"name" must be 1 to 63 lowercase letters, digits and underscores, a letter first',
    )
  if (commonVariables.some((one) => one === name))
    throw new InvalidDeclaration([...path, 'name'], `every template has the variable "${name}": do not declare it`)
  if (typeof required !== 'boolean')
    throw new InvalidDeclaration([...path, 'required'], '"required" must be true or false')
  if (typeof example !== 'string' || example.length > longestExample || valueFault(example))
    throw new InvalidDeclaration(
      [...path, 'example'],
      `"example" must be a text of at most ${longestExample} characters without control characters`,
    )
  return { name, required, example }
}

/** @returns what is wrong with the value of a variable. Line breaks and tabs are allowed. */
export function valueFault(value: string): string | undefined {
  if (!value.isWellFormed()) return 'it holds half of a surrogate pair'
  return /[^\P{Cc}\t\n\r]/u.test(value) ? 'it holds a control character' : undefined
}
