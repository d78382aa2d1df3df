/** The verb that prints the completion script of a shell. */
import { type Group, jsonFlag } from '../shared/verb.ts'

export const completion: Group = {
  summaries: {},
  verbs: [
    {
      name: 'completion',
      positionals: { '<shell>': 'bash, zsh or fish' },
      summary: 'print the script that completes words of this command in a shell',
      options: [jsonFlag('print the script as a JSON string')],
      examples: [
        'stack completion bash >> ~/.bashrc',
        'stack completion zsh > ~/.zsh/functions/_stack',
        'stack completion fish > ~/.config/fish/completions/stack.fish',
      ],
      run: async (flags: { json?: boolean }, shell) => (await import('./script.ts')).runCompletion(flags, shell!),
    },
  ],
}
