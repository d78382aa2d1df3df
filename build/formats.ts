/** Formats refusals for machines: JSON lines, workflow commands of GitHub, and SARIF (contract 8.2). */
import { harmless } from './columns.ts'
import type { Location } from './declaration.ts'
import { type Refusal, refusals, type Slug } from './refusals/index.ts'

export type Format = 'text' | 'json' | 'github' | 'sarif'

/** A refusal as an object of JSON. */
export function toJson({ slug, severity, message, place, fix, related }: Refusal): object {
  const flat = ({ file, line, column, endLine, endColumn }: Location) => ({
    file,
    line,
    column,
    end_line: endLine,
    end_column: endColumn,
  })
  return {
    slug,
    severity,
    message,
    ...flat(place),
    fix,
    related: related.map((other) => ({ message: other.message, ...flat(other.place) })),
  }
}

/**
 * A refusal as a workflow command, which GitHub shows as an annotation of the line.
 * @param prefix path from the repository's root to the project, empty or ending with `/`.
 */
export function toGithub({ slug, severity, message, place, fix }: Refusal, prefix: string): string {
  const property = (value: string | number) => data(String(value)).replaceAll(':', '%3A').replaceAll(',', '%2C')
  const properties = {
    file: prefix + place.file,
    line: place.line,
    endLine: place.endLine,
    // GitHub accepts a range of columns only on a single line.
    ...(place.line === place.endLine ? { col: place.column, endColumn: place.endColumn } : {}),
    title: slug,
  }
  const list = Object.entries(properties).map(([name, value]) => `${name}=${property(value)}`)
  return `::${severity} ${list.join(',')}::${data(`${message}\nfix: ${fix}`)}`
}

function data(text: string): string {
  return harmless(text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A'))
}

/** The whole run as one SARIF 2.1.0 log. @param prefix as in `toGithub`. @param version of this package. */
export function toSarif(found: readonly Refusal[], prefix: string, version: string): object {
  const slugs = [...new Set(found.map(({ slug }) => slug))].sort()
  // A colon in the first segment would make it a URI scheme, and # or ? would end the path.
  const uri = (file: string) => `${prefix}${file}`.split('/').map(encodeURIComponent).join('/')
  const location = ({ file, line, column, endLine, endColumn }: Location, message?: string) => ({
    physicalLocation: {
      artifactLocation: { uri: uri(file), uriBaseId: 'SRCROOT' },
      region: { startLine: line, startColumn: column, endLine, endColumn },
    },
    ...(message === undefined ? {} : { message: { text: message } }),
  })
  const rule = (slug: Slug) => ({
    id: slug,
    shortDescription: { text: refusals[slug].summary },
    fullDescription: { text: refusals[slug].why },
    defaultConfiguration: { level: 'severity' in refusals[slug] ? 'warning' : 'error' },
  })
  const result = ({ slug, severity, message, place, fix, related }: Refusal) => ({
    ruleId: slug,
    ruleIndex: slugs.indexOf(slug),
    level: severity,
    message: { text: `${message}\nfix: ${fix}` },
    locations: [location(place)],
    ...(related.length > 0 ? { relatedLocations: related.map((one) => location(one.place, one.message)) } : {}),
  })
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'stack', semanticVersion: version, rules: slugs.map(rule) } },
        columnKind: 'utf16CodeUnits',
        results: found.map(result),
      },
    ],
  }
}
