/** Refusals of rules, of handlers that do not fit their rule, and of what the database grants. */
import { define, didYouMean } from './definition.ts'

export const gates = {
  'permission-malformed': define<{ permission: string }>({
    summary: 'A rule asks for a permission that is not of the form `resource.action`',
    why: 'A role holds `resource.action` or `resource.*`, and a route asks for one action. No role can hold a permission like `orders:refund`, so every caller would get 403.',
    message: ({ permission }) => `the permission "${permission}" is not of the form resource.action`,
    fix: () => 'write it like `orders.refund`, with one dot and without blanks and commas',
  }),
  'role-unknown': define<{ role: string; declared: string[]; near: string | undefined }>({
    severity: 'warning',
    summary: 'A rule names a role that `stack/roles.json` does not declare',
    why: 'Until the role is declared, no user can hold it, and every caller gets 403. This is a warning, because an operator can declare the role through the management surface.',
    message: ({ role, near }) => `stack/roles.json declares no role "${role}"${didYouMean(near)}`,
    fix: ({ declared }) =>
      declared.length > 0
        ? `use one of the declared roles: ${declared.join(', ')}`
        : 'declare the role in stack/roles.json',
  }),
  'permission-unknown': define<{ permission: string; granted: string[]; near: string | undefined }>({
    severity: 'warning',
    summary: 'A rule asks for a permission that no role of `stack/roles.json` grants',
    why: 'Until a role grants the permission, no user can hold it, and every caller gets 403. This is a warning, because an operator can declare such a role through the management surface. A role that holds `orders.*` grants every permission of `orders`.',
    message: ({ permission, near }) => `no role of stack/roles.json grants "${permission}"${didYouMean(near)}`,
    fix: ({ granted }) =>
      granted.length > 0
        ? `use one of the granted permissions: ${granted.join(', ')}`
        : 'grant it to a role in stack/roles.json',
  }),
  'user-on-public-route': define<{ decidedBy: string; isGated: boolean }>({
    summary: 'A handler takes @User() on a route that does not require a user',
    why: 'A caller without a token would get 401 from a route whose rule does not ask for one, and the handler would take an anonymous session for a signed-in user.',
    message: ({ decidedBy }) => `@User() stands on a route that does not require a user: ${decidedBy}`,
    fix: ({ isGated }) =>
      isGated
        ? 'remove `required: false`, because the other conditions of the rule admit only signed-in users'
        : 'use `@OptionalUser() user: UserT | null`, or require a user',
  }),
  'optional-user-on-required-route': define<{ decidedBy: string }>({
    severity: 'warning',
    summary: 'A handler takes @OptionalUser() on a route that requires a user',
    why: 'Anonymous callers get 401 before the handler is called, so the parameter is never `null`. Code for that case never runs, and the route is not as open as it looks.',
    message: ({ decidedBy }) => `@OptionalUser() is never null on a route that requires a user: ${decidedBy}`,
    fix: () => 'use `@User() user: UserT`',
  }),
  'gate-never-admits-anonymous': define<object>({
    severity: 'warning',
    summary: 'A rule says `required: false` and asks for a role, a permission, a verified email or a device',
    why: 'An anonymous caller has none of these, and the route refuses the caller with 403. A rule that requires a user answers 401, which tells the caller to sign in.',
    message: () =>
      '`required: false` stands beside a role, a permission, `verifiedEmail` or `device`, so anonymous callers get 403',
    fix: () => 'remove `required: false`, or remove the other conditions',
  }),
  'device-body-unsigned': define<{ limit: number; longest: number }>({
    severity: 'warning',
    summary: 'A route asks for an attested device and takes bodies that no device can sign',
    why: 'A device signs the digest of the whole body, which the runtime must hold to compute it, so it reads 1 MiB at most. A request with a longer body has no device, and the route refuses it with 403.',
    message: ({ limit, longest }) => `the route takes bodies of ${limit} bytes, and a device can sign ${longest}`,
    fix: ({ longest }) =>
      `set \`maxBodyBytes\` to ${longest} or less, or upload the large part on a route without \`device\``,
  }),
  'service-role-in-project': define<object>({
    summary: 'A rule of a project says `serviceRole`',
    why: 'The service-role key administers the whole stack: accounts, roles and secrets. Callers of a project must not have it, so no route of a project may ask for it.',
    message: () => '`serviceRole` stands in a rule of a project, and only the auth module may use it',
    fix: () => "ask for a role or a permission instead, like `{ role: 'staff' }`",
  }),
  'management-route-unguarded': define<{ route: string; below: string }>({
    summary: 'A route of the auth module lies below an administered path and does not declare `serviceRole`',
    why: 'Routes below `/v1/management` and `/admin` administer the stack. Without the rule, any caller whom the route admits could do so.',
    message: ({ route, below }) => `${route} lies below ${below} and admits callers who may not administer the stack`,
    fix: () => 'declare `auth: { serviceRole: true }` on the route or its controller',
  }),
  'user-type-mismatch': define<{ type: string }>({
    severity: 'warning',
    summary: 'The parameter of @User() has a type other than `UserT`',
    why: 'The runtime passes a plain `UserT` and converts nothing, so other fields are `undefined` and methods of a class are missing. TypeScript does not report this, because it does not compare a parameter with its decorator.',
    message: ({ type }) => `@User() injects a UserT, and the type of this parameter is ${type}`,
    fix: () => 'write `user: UserT`, and import the type from @stack/backend',
  }),
  'optional-user-not-nullable': define<{ type: string }>({
    severity: 'warning',
    summary: 'The parameter of @OptionalUser() has a type without `null`',
    why: 'The parameter is `null` for an anonymous caller. With this type, TypeScript lets the handler read a field of `null`, which throws, so every anonymous caller would get 500.',
    message: ({ type }) =>
      `@OptionalUser() injects null for a caller without a token, and the type of this parameter is ${type}`,
    fix: () => 'write `user: UserT | null`',
  }),
  'policy-call-per-row': define<{ name: string }>({
    severity: 'warning',
    summary: 'A policy in `migrations/` calls `auth.uid()` or the like without `(select …)`',
    why: 'Postgres runs such a call once for each row that it reads, and each call verifies the claims. Inside `(select …)` it runs once for the whole statement: over 200,000 rows that takes 13 ms instead of 280 ms.',
    message: ({ name }) => `${name}() in a policy runs once for each row`,
    fix: ({ name }) =>
      `write \`(select ${name}(${name === 'auth.has_permission' ? "'…'" : ''}))\`, in a new migration if this one is already applied`,
  }),
  'table-without-row-security': define<{ name: string; to: string }>({
    summary: 'A migration grants a table to every user, and no migration enables its row-level security',
    why: 'Every signed-in user and every anonymous caller acts as the database role `backend_authenticated`. Without row-level security, each of them reaches every row of the table through the SQL of the handlers. If you mean that, write `@stack public` in the comment of the table.',
    message: ({ name, to }) => `the table ${name} is granted to ${to} and has no row-level security`,
    fix: ({ name }) =>
      `add a migration with \`alter table ${name} enable row level security\` and policies, or with \`comment on table ${name} is '@stack public'\``,
  }),
  'view-runs-as-owner': define<{ name: string; kind: string; to: string }>({
    summary: 'A migration grants a view to every user, and the view reads its tables as its owner',
    why: 'A view without `security_invoker` reads its tables with the rights of its owner, to whom no policy applies. Through it every user reaches every row of tables that have row-level security. A materialized view keeps a copy of those rows and cannot have policies. If you mean that, write `@stack public` in the comment of the view.',
    message: ({ name, kind, to }) => `the ${kind} ${name} is granted to ${to} and reads its tables as its owner`,
    fix: ({ name, kind, to }) =>
      `add a migration with ${kind === 'view' ? `\`alter view ${name} set (security_invoker = true)\`` : `\`revoke all on ${name} from ${to}\``}, or with \`comment on ${kind} ${name} is '@stack public'\``,
  }),
  'cors-open': define<{ beside: string }>({
    summary: "`cors` names `'*'` beside other origins, or beside `credentials: true`",
    why: 'A browser refuses `*` with credentials. A server that repeats every origin instead would let every page on the internet act as the signed-in user. Beside `*` other origins have no effect.',
    message: ({ beside }) => `\`cors\` names '*' beside ${beside}`,
    fix: () => "name each origin, like `origins: ['https://app.example']`",
  }),
  'cors-misplaced': define<{ name: string }>({
    summary: '`cors` stands on a module that is not the root module',
    why: 'The build reads `cors` from the root module only, where it applies to every route. Here it would have no effect, and browsers would refuse answers to pages of other origins.',
    message: ({ name }) => `\`cors\` stands on ${name}, which is not the root module`,
    fix: () => 'move `cors` to the root module',
  }),
}
