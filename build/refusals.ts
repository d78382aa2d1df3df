/**
 * The catalogue of refusals: the only wording of any of them (contract 8.2). A slug is the name of the refusal
 * everywhere: in the output, in the tests' fixtures, in the documentation.
 */
import type { Place } from './declaration.ts'

export interface Refusal {
  slug: Slug
  severity: 'error' | 'warning'
  /** One sentence, values quoted, no full stop. */
  message: string
  place: Place
  /** What to do. */
  fix: string
  related: Related[]
  /** The source at the place may be a secret: it is not shown. */
  isMasked: boolean
}

/** A second place that the refusal is about. */
export interface Related {
  message: string
  place: Place
}

interface Definition<A> {
  severity?: 'warning'
  /** The source at the place is not shown. */
  isMasked?: true
  message: (about: A) => string
  fix: (about: A) => string
}

function define<A>(definition: Definition<A>): Definition<A> {
  return definition
}

const didYouMean = (near: string | undefined) => (near === undefined ? '' : `, did you mean "${near}"?`)

export const refusals = {
  // declarations
  'syntax-error': define<{ reason: string }>({
    message: ({ reason }) => `this file does not parse: ${reason}`,
    fix: () => 'correct the syntax; the rest of this file is judged once it parses',
  }),
  'import-lost': define<{ specifier: string }>({
    message: ({ specifier }) => `the import "${specifier}" leads to no file`,
    fix: () => 'correct the path; what follows from it in this file is judged then',
  }),
  'bundle-failed': define<{ reason: string }>({
    message: ({ reason }) => `the project does not bundle: ${reason}`,
    fix: () => 'a package must be installed, a file must exist, a name must be exported, a Node module is `node:…`',
  }),
  'entry-without-module': define<{ entry: string; isMissing: boolean }>({
    message: ({ entry, isMissing }) =>
      isMissing
        ? `there is no ${entry}, which must export the root module`
        : `${entry} exports no class with @Module of @stack/backend`,
    fix: () => 'export the root module from it: `@Module({ controllers: [] }) export class AppModule {}`',
  }),
  'entry-with-two-modules': define<{ entry: string }>({
    message: ({ entry }) => `${entry} holds more than one class with @Module, so the root is not certain`,
    fix: () => 'move every module but the root into a file of its own',
  }),
  'default-export': define<{ name: string }>({
    message: ({ name }) => `the class ${name} is a default export`,
    fix: ({ name }) => `export it by name: \`export class ${name === 'default' ? 'MyClass' : name}\``,
  }),
  'class-not-exported': define<{ name: string }>({
    message: ({ name }) => `the class ${name} is not exported, so the built worker cannot import it`,
    fix: ({ name }) => `write \`export class ${name}\``,
  }),
  'class-abstract': define<{ name: string; role: string }>({
    message: ({ name, role }) => `the class ${name} has @${role} and is abstract, so it cannot be constructed`,
    fix: ({ role }) => `remove \`abstract\`, or move @${role} to the class that extends it`,
  }),
  'class-with-two-roles': define<{ name: string; roles: string }>({
    message: ({ name, roles }) => `the class ${name} has ${roles}: a class is one of them`,
    fix: () => 'split the class, and keep one decorator on each part',
  }),
  'decorator-twice': define<{ name: string }>({
    message: ({ name }) => `@${name} stands here twice`,
    fix: () => 'remove one of them',
  }),
  'decorator-not-called': define<{ name: string; form: string }>({
    message: ({ name }) => `@${name} must be called`,
    fix: ({ form }) => `write \`${form}\``,
  }),
  'decorator-not-imported': define<{ name: string }>({
    message: ({ name }) => `@${name} is not imported`,
    fix: ({ name }) => `write \`import { ${name} } from '@stack/backend'\``,
  }),
  'decorator-as-value': define<{ name: string }>({
    message: ({ name }) => `${name} is used as a value: a decorator is read where it stands, so this one would be lost`,
    fix: ({ name }) => `write \`@${name}(…)\` on the class, method or parameter itself`,
  }),
  'decorator-misplaced': define<{ name: string; belongs: string }>({
    message: ({ name, belongs }) => `@${name} belongs on ${belongs}`,
    fix: () => 'move it there, or remove it',
  }),
  'decorator-unknown': define<{ name: string; near: string | undefined }>({
    message: ({ name, near }) => `@stack/backend has no decorator "${name}"${didYouMean(near)}`,
    fix: ({ near }) => (near ? `import and use \`${near}\`` : 'remove it'),
  }),
  'option-not-constant': define<{ what: string; text: string }>({
    message: ({ what, text }) => `${what} must be known at build, and \`${text}\` is not`,
    fix: () => 'write the literal, or a `const` of this file or an imported one',
  }),
  'option-unknown': define<{ key: string; where: string; known: string[]; near: string | undefined }>({
    message: ({ key, where, near }) => `unknown option "${key}" in ${where}${didYouMean(near)}`,
    fix: ({ known, near }) => (near === undefined ? `known here: ${known.join(', ')}` : `write \`${near}\``),
  }),
  'option-missing': define<{ key: string; where: string; form: string }>({
    message: ({ key, where }) => `${where} has no "${key}"`,
    fix: ({ form }) => `add \`${form}\``,
  }),
  'option-malformed': define<{ what: string; expected: string; found: string }>({
    message: ({ what, expected, found }) => `${what} must be ${expected}, not ${found}`,
    fix: ({ expected }) => `give it ${expected}`,
  }),
  'option-twice': define<{ key: string; where: string }>({
    message: ({ key, where }) => `"${key}" stands twice in ${where}`,
    fix: () => 'keep one of them',
  }),
  'argument-missing': define<{ name: string; what: string; form: string }>({
    message: ({ name, what }) => `@${name} needs ${what}`,
    fix: ({ form }) => `write \`${form}\``,
  }),
  'argument-superfluous': define<{ name: string; takes: string }>({
    message: ({ name, takes }) => `@${name} takes ${takes}`,
    fix: () => 'remove what is too much',
  }),
  'handler-unfit': define<{ name: string; reason: string }>({
    message: ({ name, reason }) => `${name} cannot serve as a handler: it is ${reason}`,
    fix: () => 'a handler is a public method of the instance, with a name that is known at build',
  }),
  'handler-twice': define<{ name: string; className: string }>({
    message: ({ name, className }) => `${className} has two members named ${name}: the later one replaces the handler`,
    fix: () => 'give one of them another name',
  }),

  // modules and the container
  'class-not-listed': define<{ name: string; list: string }>({
    message: ({ name, list }) => `no module that the root reaches lists ${name} in its \`${list}\``,
    fix: ({ name, list }) => `add ${name} to the \`${list}\` of a module, or remove its decorator`,
  }),
  'listed-in-the-wrong-list': define<{ name: string; list: string; belongs: string; proper: string | undefined }>({
    message: ({ name, list, belongs }) => `${name} stands in \`${list}\` and is no ${belongs}`,
    fix: ({ name, proper }) => (proper ? `move ${name} to \`${proper}\`` : `remove ${name} from the list`),
  }),
  'module-cycle': define<{ chain: string }>({
    message: ({ chain }) => `modules import each other: ${chain}`,
    fix: () => 'move what both need into a third module that both import',
  }),
  'application-default-misplaced': define<{ name: string }>({
    message: ({ name }) => `\`auth\` stands on ${name}, which is not the root module`,
    fix: () =>
      'the application default is declared once, on the root module; elsewhere declare `auth` on the controller',
  }),
  'export-not-provided': define<{ name: string; module: string }>({
    message: ({ name, module }) => `${module} exports ${name}, which it neither provides nor imports`,
    fix: ({ name, module }) => `add ${name} to the \`providers\` or \`imports\` of ${module}, or remove the export`,
  }),
  'dependency-not-a-class': define<{ name: string; parameter: string; type: string }>({
    message: ({ name, parameter, type }) =>
      type
        ? `${name} needs \`${parameter}: ${type}\`, and ${type} is no class of this project`
        : `${name} needs \`${parameter}\`, which has no type`,
    fix: () => 'use a class that a module provides; interfaces, aliases and primitives do not exist at run time',
  }),
  'dependency-not-provided': define<{ name: string; needed: string; module: string; isController: boolean }>({
    message: ({ name, needed, module }) => `${name} needs ${needed}, and ${module} has no provider of it`,
    fix: ({ needed, module, isController }) =>
      isController
        ? 'a controller cannot be injected: move what is needed of it into a provider'
        : `add ${needed} to the \`providers\` of ${module}, or import the module that provides it`,
  }),
  'dependency-not-exported': define<{ name: string; needed: string; provider: string }>({
    message: ({ name, needed, provider }) => `${name} needs ${needed}, which ${provider} provides and does not export`,
    fix: ({ needed, provider }) => `add ${needed} to the \`exports\` of ${provider}`,
  }),
  'dependency-cycle': define<{ chain: string }>({
    message: ({ chain }) => `these classes need each other: ${chain}`,
    fix: () => 'move what both need into a third provider',
  }),
  'base-unreadable': define<{ name: string }>({
    message: ({ name }) =>
      `what the constructor of ${name} takes is not known: it is inherited from something computed`,
    fix: ({ name }) => `give ${name} a constructor of its own, or extend a class by its exported name`,
  }),
  'provider-not-injectable': define<{ name: string }>({
    message: ({ name }) => `${name} takes constructor parameters and lacks @Injectable`,
    fix: ({ name }) => `write \`@Injectable()\` above \`class ${name}\``,
  }),

  // routes
  'path-malformed': define<{ path: string; reason: string }>({
    message: ({ path, reason }) => `the path "${path}" is malformed: ${reason}`,
    fix: () => 'a path is made of segments like `orders` and parameters like `:id`, separated by single slashes',
  }),
  'path-reserved': define<{ path: string; reserved: string; owner: string }>({
    message: ({ path, reserved, owner }) => `the path "${path}" lies under ${reserved}, where ${owner} answers`,
    fix: ({ path }) => `choose another first segment, for example "/api${path}"`,
  }),
  'route-twice': define<{ route: string }>({
    message: ({ route }) => `the route ${route} is declared twice`,
    fix: () => 'remove one of them, or change its path or method',
  }),
  'route-ambiguous': define<{ route: string; other: string }>({
    message: ({ route, other }) => `no request can tell ${route} from ${other}: only the parameter's name differs`,
    fix: () => 'give them one parameter name and different methods, or different literal segments',
  }),
  'parameter-without-injector': define<{ name: string }>({
    message: ({ name }) => `the handler's parameter ${name} has no injector, so it would always be undefined`,
    fix: () =>
      'say what it receives: @Param, @Query, @Header, @Body, @Req, @User, @OptionalUser, @RequestId or @TraceId',
  }),
  'parameter-with-two-injectors': define<{ name: string }>({
    message: ({ name }) => `the handler's parameter ${name} has more than one injector`,
    fix: () => 'keep one',
  }),
  'path-parameter-unknown': define<{ name: string; path: string; near: string | undefined }>({
    message: ({ name, path, near }) => `the path "${path}" has no parameter "${name}"${didYouMean(near)}`,
    fix: ({ name, near }) => (near ? `write \`@Param('${near}')\`` : `add \`:${name}\` to the path`),
  }),
  'body-on-bodyless-route': define<{ method: string }>({
    message: ({ method }) => `@Body() on a ${method} route: such a request has no body`,
    fix: () => "use `@Query('…')`, or another method",
  }),
  'body-twice': define<object>({
    message: () => 'this handler takes the body twice',
    fix: () => 'keep one @Body()',
  }),

  // gates
  'permission-malformed': define<{ permission: string }>({
    message: ({ permission }) => `the permission "${permission}" is not of the form resource.action`,
    fix: () => 'write it like `orders.refund`: lowercase letters, digits, dashes and underscores around one dot',
  }),
  'role-unknown': define<{ role: string; declared: string[]; near: string | undefined }>({
    severity: 'warning',
    message: ({ role, near }) => `stack/roles.json declares no role "${role}"${didYouMean(near)}`,
    fix: ({ declared }) => (declared.length > 0 ? `the declared roles are ${declared.join(', ')}` : 'declare it there'),
  }),
  'user-on-public-route': define<{ decidedBy: string }>({
    message: ({ decidedBy }) => `@User() on a route that does not require a user: ${decidedBy}`,
    fix: () => 'use `@OptionalUser() user: UserT | null`, or require a user',
  }),
  'optional-user-on-required-route': define<{ decidedBy: string }>({
    severity: 'warning',
    message: ({ decidedBy }) => `@OptionalUser() on a route that requires a user is never null: ${decidedBy}`,
    fix: () => 'use `@User() user: UserT`',
  }),
  'gate-never-admits-anonymous': define<object>({
    severity: 'warning',
    message: () =>
      '`required: false` beside a role, a permission or `verifiedEmail` admits no anonymous caller: they get 403',
    fix: () => 'remove `required: false`, or the condition',
  }),

  // webhooks
  'webhook-without-scheme': define<{ name: string }>({
    message: ({ name }) => `${name} declares neither \`provider\` nor \`signature\`, so no delivery could be verified`,
    fix: () => "add `provider: 'payments'`, or a `signature` block",
  }),
  'webhook-with-two-schemes': define<{ name: string }>({
    message: ({ name }) => `${name} declares both \`provider\` and \`signature\``,
    fix: () => 'keep one of them',
  }),
  'webhook-name-missing': define<{ name: string }>({
    message: ({ name }) => `${name} has no \`name\`: it becomes the path of its URL, and there is no default`,
    fix: () => "add `name: 'payments'`, served at /webhooks/payments",
  }),
  'webhook-name-malformed': define<{ value: string }>({
    message: ({ value }) =>
      `the webhook name "${value}" must be lowercase letters, digits and dashes, starting and ending with a letter or digit`,
    fix: ({ value }) => {
      const repaired = value
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^-|-$/g, '')
      return repaired ? `write \`name: '${repaired}'\`` : "write it like `name: 'payments'`"
    },
  }),
  'webhook-name-twice': define<{ value: string }>({
    message: ({ value }) => `two webhooks are named "${value}", and both would be served at /webhooks/${value}`,
    fix: () => 'give one of them another name',
  }),
  'webhook-provider-unknown': define<{ value: string; known: string[]; near: string | undefined }>({
    message: ({ value, near }) => `there is no provider "${value}"${didYouMean(near)}`,
    fix: ({ known }) =>
      `the providers are ${known.join(', ')}; describe any other HMAC scheme with a \`signature\` block`,
  }),
  'webhook-secret-inline': define<object>({
    isMasked: true,
    message: () => '`secret` names a vault entry, and this is not such a name',
    fix: () => "write `secret: { env: 'PAYMENTS_SECRET' }`, and store the value under that name",
  }),
  'webhook-without-events': define<{ name: string }>({
    message: ({ name }) => `${name} has no method with @On, so no delivery could be handled`,
    fix: () => "bind a method: `@On('invoice.paid') paid(payload, meta) {}`",
  }),
  'webhook-event-twice': define<{ event: string }>({
    message: ({ event }) => `the event "${event}" is bound twice`,
    fix: () => 'one method handles one event: remove one of the two',
  }),
  'webhook-signs-without-body': define<{ signs: string }>({
    message: ({ signs }) =>
      `\`signs: "${signs}"\` does not cover the body: whoever holds one signature could send anything`,
    fix: () => "include `{body}`, for example `signs: '{ts}.{body}'`",
  }),
  'webhook-timestamp-without-header': define<object>({
    message: () => '`signs` holds {ts}, and no `timestampHeader` says where the time stands',
    fix: () => "add `timestampHeader: 'x-timestamp'`",
  }),
  'webhook-timestamp-unsigned': define<object>({
    severity: 'warning',
    message: () =>
      '`timestampHeader` names a time that `signs` does not cover: whoever replays a delivery can renew it',
    fix: () => 'include `{ts}` in `signs` if the sender does; else remove `timestampHeader`',
  }),
  'webhook-placeholder-unknown': define<{ placeholder: string }>({
    severity: 'warning',
    message: ({ placeholder }) => `${placeholder} in \`signs\` is literal text: only {body} and {ts} are replaced`,
    fix: () => 'remove it, unless the sender signs these very characters',
  }),
  'injector-in-webhook': define<{ name: string }>({
    message: ({ name }) => `@${name}() has no meaning in a webhook's handler, which takes the payload and its meta`,
    fix: () => 'remove it; there is no signed-in user, so read and write through `Database.$asService()`',
  }),
} satisfies Record<string, Definition<never>>

export type Slug = keyof typeof refusals

type About<S extends Slug> = (typeof refusals)[S] extends Definition<infer A> ? A : never

/** One refusal of the catalogue, at its place. */
export function refusal<S extends Slug>(slug: S, place: Place, about: About<S>, related: Related[] = []): Refusal {
  const { severity = 'error', isMasked = false, message, fix } = refusals[slug] as Definition<About<S>>
  return { slug, severity, message: message(about), place, fix: fix(about), related, isMasked }
}
