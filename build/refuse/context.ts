/** Everything outside of a project's source that decides whether a declaration is accepted. */
import type { DeclaredRole } from '../../src/wire/project.ts'
import type { Slug } from '../refusals/index.ts'

export interface BuildContext {
  /** Path prefixes that the project's own routes cannot use. */
  reserved: readonly Reserved[]
  /** The roles that `stack/roles.json` declares. */
  roles: readonly DeclaredRole[]
  /**
   * Paths below which every route administers the stack, and so declares `serviceRole` (contract 4.6). Only the auth module has
   * such paths. Where there are none, the rule itself is refused.
   */
  administered?: readonly string[] | undefined
  /** Refusals to leave out. Tests use this to show that each rule is needed. */
  without?: ReadonlySet<Slug>
}

export interface Reserved {
  /** A path prefix without a trailing slash. */
  path: string
  /** The part of the stack that answers there, as a message names it. */
  owner: string
}
