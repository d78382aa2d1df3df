/** Refusals of rules, and of handlers that do not fit theirs. */
import { define, didYouMean } from './definition.ts'

export const gates = {
  'permission-malformed': define<{ permission: string }>({
    summary: 'A rule asks for a permission that is not of the form `resource.action`',
    why: 'A role holds `resource.action` or `resource.*`, and a route asks for one action. A permission like `orders:refund` is one that no role can hold, so every caller would get 403.',
    message: ({ permission }) => `the permission "${permission}" is not of the form resource.action`,
    fix: () => 'write it like `orders.refund`: one dot, and neither blanks nor commas around it',
  }),
  'role-unknown': define<{ role: string; declared: string[]; near: string | undefined }>({
    severity: 'warning',
    summary: 'A rule names a role that `stack/roles.json` does not declare',
    why: 'Until somebody declares the role through the management surface, nobody can hold it, and every caller gets 403. Because it can be declared there, this is a warning.',
    message: ({ role, near }) => `stack/roles.json declares no role "${role}"${didYouMean(near)}`,
    fix: ({ declared }) => (declared.length > 0 ? `the declared roles are ${declared.join(', ')}` : 'declare it there'),
  }),
  'permission-unknown': define<{ permission: string; granted: string[]; near: string | undefined }>({
    severity: 'warning',
    summary: 'A rule asks for a permission that no role of `stack/roles.json` grants',
    why: 'Until a role with it is declared through the management surface, no user can hold the permission, and every caller gets 403. Because it can be declared there, this is a warning. A role that holds `orders.*` grants every permission of `orders`.',
    message: ({ permission, near }) => `no role of stack/roles.json grants "${permission}"${didYouMean(near)}`,
    fix: ({ granted }) =>
      granted.length > 0 ? `the granted permissions are ${granted.join(', ')}` : 'grant it to a role there',
  }),
  'user-on-public-route': define<{ decidedBy: string; isGated: boolean }>({
    summary: 'A handler takes @User() on a route that does not require a user',
    why: 'A caller without a token would get 401 from a route whose rule does not ask for one, and an anonymous session would be handed over as if it were a signed-in user.',
    message: ({ decidedBy }) => `@User() on a route that does not require a user: ${decidedBy}`,
    fix: ({ isGated }) =>
      isGated
        ? 'remove `required: false`: its other conditions admit nobody who is not signed in'
        : 'use `@OptionalUser() user: UserT | null`, or require a user',
  }),
  'optional-user-on-required-route': define<{ decidedBy: string }>({
    severity: 'warning',
    summary: 'A handler takes @OptionalUser() on a route that requires a user',
    why: 'Anonymous callers get 401 before the handler is called, so the parameter is never `null`: what is written for that case never runs, and the route is not as open as it reads.',
    message: ({ decidedBy }) => `@OptionalUser() on a route that requires a user is never null: ${decidedBy}`,
    fix: () => 'use `@User() user: UserT`',
  }),
  'gate-never-admits-anonymous': define<object>({
    severity: 'warning',
    summary: 'A rule says `required: false` and asks for a role, a permission or a verified email',
    why: 'An anonymous caller counts as having none of these and is refused all the same: with 403, where a rule that requires a user answers 401 and so tells the caller to sign in.',
    message: () =>
      '`required: false` beside a role, a permission or `verifiedEmail` admits no anonymous caller: they get 403',
    fix: () => 'remove `required: false`, or the condition',
  }),
  'service-role-in-project': define<object>({
    summary: 'A rule of a project says `serviceRole`',
    why: 'The service-role key administers the whole stack: accounts, roles, secrets. Callers of a project must not hold it, so no route of a project asks for it.',
    message: () => '`serviceRole` is a rule of the auth module alone',
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
    why: 'The runtime hands over a plain `UserT` and converts nothing: other fields are `undefined`, and methods of a class are not there. TypeScript does not say so, because it does not compare a parameter with its decorator.',
    message: ({ type }) => `@User() gives a UserT, and this parameter is typed ${type}`,
    fix: () => 'write `user: UserT`, and import the type from @stack/backend',
  }),
  'optional-user-not-nullable': define<{ type: string }>({
    severity: 'warning',
    summary: 'The parameter of @OptionalUser() has a type without `null`',
    why: 'An anonymous caller gives `null`. TypeScript, told otherwise, lets the handler read a field of it, which throws: every anonymous caller would get 500.',
    message: ({ type }) =>
      `@OptionalUser() gives null to whoever is not signed in, and this parameter is typed ${type}`,
    fix: () => 'write `user: UserT | null`',
  }),
  'policy-call-per-row': define<{ name: string }>({
    severity: 'warning',
    summary: 'A policy in `migrations/` calls `auth.uid()` or the like without `(select …)`',
    why: 'Postgres runs such a call once for each row that it looks at, and each time the claims are verified. Inside `(select …)` it runs once for the whole statement: over two hundred thousand rows that is 13 ms where it was 280 ms.',
    message: ({ name }) => `${name}() in a policy runs once for each row`,
    fix: ({ name }) =>
      `write \`(select ${name}(${name === 'auth.has_permission' ? "'…'" : ''}))\`, in a new migration if this one has run already`,
  }),
  'table-without-row-security': define<{ name: string; to: string }>({
    summary: 'A migration grants a table to every user, and no migration enables its row-level security',
    why: 'Every signed-in user and every anonymous caller acts as the database role `backend_authenticated`. Without row-level security each of them reaches every row of the table, whatever the handlers ask for. A table that is meant to be so says it: `@stack public` in its comment.',
    message: ({ name, to }) => `the table ${name} is granted to ${to} and has no row-level security`,
    fix: ({ name }) =>
      `add a migration with \`alter table ${name} enable row level security\` and policies, or with \`comment on table ${name} is '@stack public'\``,
  }),
  'view-runs-as-owner': define<{ name: string; kind: string; to: string }>({
    summary: 'A migration grants a view to every user, and the view reads its tables as its owner',
    why: 'A view without `security_invoker` reads its tables with the rights of its owner, for whom no policy counts: through it every user reaches every row of tables that have row-level security. A materialized view keeps a copy of those rows and cannot have policies. A view that is meant to be so says it: `@stack public` in its comment.',
    message: ({ name, kind, to }) => `the ${kind} ${name} is granted to ${to} and reads its tables as its owner`,
    fix: ({ name, kind, to }) =>
      `add a migration with ${kind === 'view' ? `\`alter view ${name} set (security_invoker = true)\`` : `\`revoke all on ${name} from ${to}\``}, or with \`comment on ${kind} ${name} is '@stack public'\``,
  }),
  'cors-open': define<{ beside: string }>({
    summary: "`cors` names `'*'` beside other origins, or beside `credentials: true`",
    why: 'With credentials a browser refuses `*`, and a server that gives back whatever origin asks would let every page on the internet act as whoever is signed in. Beside `*` other origins say nothing.',
    message: ({ beside }) => `\`cors\` names '*' beside ${beside}`,
    fix: () => "name the origins: `origins: ['https://app.example']`",
  }),
  'cors-misplaced': define<{ name: string }>({
    summary: '`cors` stands on a module that is not the root module',
    why: 'It is read from the root module alone and holds for every route, so here it would have no effect: pages of other origins would be refused although it seems that they are not.',
    message: ({ name }) => `\`cors\` stands on ${name}, which is not the root module`,
    fix: () => 'declare it once, on the root module',
  }),
}
