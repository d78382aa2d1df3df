/** The verb that acts as a user of the local stack. */
import { Option } from 'commander'
import { type Group, jsonFlag, projectFlag } from '../shared/verb.ts'
import type { TokenFlags } from './token.ts'

export const token: Group = {
  summaries: {},
  verbs: [
    {
      name: 'token',
      positionals: { '<user>': 'the id or the email address of a user' },
      summary: 'print an access token of a user of the local stack, without a sign-in',
      options: [
        projectFlag(),
        new Option(
          '--device <request>',
          'enrol a debug device, and print the headers of a request like "GET /orders" for `curl -H @-`',
        ),
        new Option('--data <document>', 'the JSON body of that request: text, @<file> or - for standard input'),
        jsonFlag('print the refresh token and the times too, as JSON'),
      ],
      examples: [
        'stack token ann@example.com',
        'stack token usr_01ja --json',
        "stack token ann@example.com --device 'GET /orders' | curl -H @- http://127.0.0.1:8787/orders",
      ],
      run: async (flags: TokenFlags, user) => (await import('./token.ts')).runToken(flags, user!),
    },
  ],
}
