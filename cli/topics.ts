/** Texts of `stack help <topic>`, which are about no single verb. */

export const topics: Record<string, string> = {
  'exit-codes': `Exit codes of every verb

  0    done, or a running stack that Ctrl-C ended
  1    the build or the stack refused: a declaration, a migration, a delivery. Or scheduled work failed
  2    wrong usage, no project, a declared file that is not valid, a secret that is not set
  3    the port is taken, the stack runs or is starting, or none runs and one is needed
  4    no credential, or the stack answered 401 or 403
  6    the stack cannot be reached
  130  interrupted by a signal

Examples:
  $ stack build || echo "refused, or wrong usage: $?"
`,
  environment: `Environment variables that stack reads

  STACK_SERVICE_ROLE_KEY  the service-role key that is sent to a stack. It wins over STACK_ACCESS_TOKEN.
                          Without both, the local stack's own key is used
  STACK_ACCESS_TOKEN      an access token that is sent instead of a key
  NO_COLOR                set and not empty: no colour, also on a terminal
  INIT_CWD                set by npm: the folder that relative paths are resolved against

A secret to sign a delivery with is in the variable that --secret-env names. What the project's own code reads is in
.dev.vars or in the vault of the stack, not in the environment of this command.

Examples:
  $ STACK_SERVICE_ROLE_KEY=srk_… stack secret list --env staging
  $ NO_COLOR=1 stack build
`,
}
