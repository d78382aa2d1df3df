/** The verb that acts as a user of the local stack. */
import { type Group, jsonFlag, projectFlag } from '../shared/verb.ts'
import type { TokenFlags } from './token.ts'

export const token: Group = {
  summaries: {},
  verbs: [
    {
      name: 'token',
      positionals: { '<user>': 'the id or the email address of a user' },
      summary: 'print an access token of a user of the local stack, without a sign-in',
      options: [projectFlag(), jsonFlag('print the refresh token and the times too, as JSON')],
      examples: ['stack token ann@example.com', 'stack token usr_01ja --json'],
      run: async (flags: TokenFlags, user) => (await import('./token.ts')).runToken(flags, user!),
    },
  ],
}
