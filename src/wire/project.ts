/** Parses the two files in which a project declares itself: `stack/project.json` and `stack/roles.json` (contract 1.3). */
import { nearest } from './nearest.ts'
import { grantedPermission, roleName } from './permissions.ts'
import { hasClients, type OAuthProvider, type Platform, providerNamed, providerNames, recordName } from './providers.ts'

/** Keys of clients by their provider: each selects one client where several match. */
export type ClientKeys = Partial<Record<OAuthProvider, string>>

/** The configured application that a platform's snapshot is about. */
export interface ClientSelection {
  application_key: string
  variant: string
  client_keys: ClientKeys
}

/** The object `oauth`: which clients `stack link` selects (contract 10.6). */
export interface OAuthSelection {
  platforms: Partial<Record<Platform, ClientSelection>>
  /** Keys for every platform. Those of a platform's own selection win. */
  client_keys: ClientKeys
}

export interface Project {
  /** The project's name. */
  project: string
  /** The file that exports the root module, relative to the project. */
  entry: string
  environments: Record<string, Environment>
  /** Largest size of the compressed worker, in KiB. */
  budgetKib: number
  oauth: OAuthSelection
}

interface Environment {
  ref: string
  url: string
  /** The auth worker of this environment takes debug devices. No environment that serves real users should have it. */
  debugDevices: boolean
}

export interface DeclaredRole {
  name: string
  default: boolean
  permissions: string[]
}

/** A declared file breaks a rule. The message is a sentence that says which one. */
export class InvalidDeclaration extends Error {
  override name = 'InvalidDeclaration'
  /** Keys and indices from the top of the document to the wrong value. */
  readonly path: readonly (string | number)[]

  constructor(path: readonly (string | number)[], message: string) {
    super(message)
    this.path = path
  }
}

type Path = readonly (string | number)[]

/**
 * @param json the parsed content of `stack/project.json`.
 * @throws InvalidDeclaration for the first value that breaks a rule.
 */
export function readProject(json: unknown): Project {
  const document = readObject(json, [], ['$schema', 'project', 'entry', 'environments', 'bundle_budget_kib', 'oauth'])
  const name = document['project']
  if (typeof name !== 'string' || !/^[a-z0-9][a-z0-9._-]*$/.test(name)) {
    throw new InvalidDeclaration(
      ['project'],
      '"project" must be a name of lowercase letters, digits, dots, dashes and underscores',
    )
  }
  const entry = document['entry'] ?? 'src/app.module.ts'
  if (typeof entry !== 'string' || !/^(?!\/|.*(?:^|\/)\.\.(?:\/|$)|[A-Za-z]:).+\.tsx?$/.test(entry)) {
    throw new InvalidDeclaration(['entry'], '"entry" must be the path of a .ts file below the project')
  }
  const budgetKib = document['bundle_budget_kib'] ?? 3072
  if (typeof budgetKib !== 'number' || !Number.isInteger(budgetKib) || budgetKib < 1) {
    throw new InvalidDeclaration(['bundle_budget_kib'], '"bundle_budget_kib" must be a whole number of KiB, 1 or more')
  }
  const environments: Project['environments'] = {}
  for (const [environment, value] of Object.entries(readObject(document['environments'] ?? {}, ['environments']))) {
    const path = ['environments', environment]
    const { ref, url, debug_devices: debugDevices = false } = readObject(value, path, ['ref', 'url', 'debug_devices'])
    if (typeof ref !== 'string' || !/^[a-z0-9]{8}m$/.test(ref)) {
      throw new InvalidDeclaration([...path, 'ref'], '"ref" must be eight characters of [a-z0-9], then m')
    }
    if (typeof url !== 'string' || !URL.canParse(url)) {
      throw new InvalidDeclaration([...path, 'url'], '"url" must be a URL')
    }
    if (typeof debugDevices !== 'boolean') {
      throw new InvalidDeclaration([...path, 'debug_devices'], '"debug_devices" must be true or false')
    }
    environments[environment] = { ref, url, debugDevices }
  }
  return { project: name, entry, environments, budgetKib, oauth: readOAuth(document['oauth'] ?? {}) }
}

const platforms = ['web', 'ios', 'android'] as const

function readOAuth(json: unknown): OAuthSelection {
  const document = readObject(json, ['oauth'], [...platforms, 'client_keys'])
  const selection: OAuthSelection = {
    platforms: {},
    client_keys: readClientKeys(document['client_keys'], ['oauth', 'client_keys']),
  }
  for (const platform of platforms) {
    if (document[platform] === undefined) continue
    const path = ['oauth', platform]
    const { application_key, variant, client_keys } = readObject(document[platform], path, [
      'application_key',
      'variant',
      'client_keys',
    ])
    selection.platforms[platform] = {
      application_key: readLine(application_key, [...path, 'application_key']),
      variant: readLine(variant, [...path, 'variant']),
      client_keys: readClientKeys(client_keys, [...path, 'client_keys']),
    }
  }
  return selection
}

function readLine(value: unknown, path: Path): string {
  if (typeof value === 'string' && /^(?!\s)[^\p{Cc}]{1,200}(?<!\s)$/u.test(value)) return value
  throw new InvalidDeclaration(path, `"${path.at(-1)}" must be one line of 1 to 200 characters, as the clients have it`)
}

function readClientKeys(json: unknown = {}, path: Path): ClientKeys {
  const keys: ClientKeys = {}
  for (const [given, key] of Object.entries(readObject(json, path))) {
    const provider = providerNamed(given)
    if (!provider || !hasClients(provider)) {
      const near = nearest(given, oauthProviders)
      const rest = near ? `did you mean "${near}"?` : `they are ${oauthProviders.join(', ')}`
      throw new InvalidDeclaration([...path, given], `"${given}" is no provider with clients: ${rest}`)
    }
    if (typeof key !== 'string' || !recordName.test(key))
      throw new InvalidDeclaration([...path, given], `"${given}" must be the key of one of its clients`)
    if (Object.hasOwn(keys, provider))
      throw new InvalidDeclaration([...path, given], `"${given}" and another name of ${provider} are both given`)
    keys[provider] = key
  }
  return keys
}

const oauthProviders = providerNames.filter(hasClients)

/**
 * @param json the parsed content of `stack/roles.json`.
 * @throws InvalidDeclaration for the first value that breaks a rule.
 */
export function readRoles(json: unknown): DeclaredRole[] {
  const list = readObject(json, [], ['$schema', 'roles'])['roles']
  if (!Array.isArray(list)) throw new InvalidDeclaration(['roles'], '"roles" must be a list')
  const roles: DeclaredRole[] = []
  for (const [index, item] of list.entries()) {
    const role = readRole(item, ['roles', index])
    if (roles.some((other) => other.name === role.name)) {
      throw new InvalidDeclaration(['roles', index, 'name'], `the role "${role.name}" is declared twice`)
    }
    const rival = role.default ? roles.find((other) => other.default) : undefined
    if (rival) {
      throw new InvalidDeclaration(
        ['roles', index, 'default'],
        `"${rival.name}" is the default role already: only one role can be the default`,
      )
    }
    roles.push(role)
  }
  return roles
}

/**
 * Parses one role of `stack/roles.json`, or the body of `POST /roles`.
 *
 * @param path of the role in its document.
 * @throws InvalidDeclaration for the first value that breaks a rule.
 */
export function readRole(json: unknown, path: Path = []): DeclaredRole {
  const document = readObject(json, path, ['name', 'default', 'permissions'])
  const { name, default: isDefault = false, permissions = [] } = document
  if (typeof name !== 'string' || !roleName.test(name)) {
    throw new InvalidDeclaration(
      [...path, 'name'],
      '"name" must be 1 to 63 characters without blanks, commas, slashes and quotes, and not "." or ".."',
    )
  }
  if (typeof isDefault !== 'boolean') {
    throw new InvalidDeclaration([...path, 'default'], '"default" must be true or false')
  }
  if (!Array.isArray(permissions)) {
    throw new InvalidDeclaration([...path, 'permissions'], '"permissions" must be a list')
  }
  for (const [index, value] of permissions.entries()) {
    if (typeof value !== 'string' || !grantedPermission.test(value)) {
      throw new InvalidDeclaration(
        [...path, 'permissions', index],
        `a permission is "resource.action" or "resource.*" without blanks and commas, not ${JSON.stringify(value)}`,
      )
    }
  }
  return { name, default: isDefault, permissions: [...new Set(permissions as string[])] }
}

/** @throws InvalidDeclaration for a value that is no object, and for a key that is not known. */
export function readObject(value: unknown, path: Path, known?: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidDeclaration(path, `${path.length ? `"${path.at(-1)}"` : 'the document'} must be an object`)
  }
  const unknown = known && Object.keys(value).find((key) => !known.includes(key))
  if (unknown !== undefined) {
    const near = nearest(unknown, known!)
    throw new InvalidDeclaration(
      [...path, unknown],
      `unknown key "${unknown}"${near ? `: did you mean "${near}"?` : `: the known keys are ${known!.join(', ')}`}`,
    )
  }
  return value as Record<string, unknown>
}
