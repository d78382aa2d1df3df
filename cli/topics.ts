/** Texts of `stack help <topic>`, which are about no single verb. */

export const topics: Record<string, string> = {
  'exit-codes': `Exit codes of every verb

  0    done, or a running stack that Ctrl-C ended
  1    the build, the stack or Cloudflare refused: a declaration, a migration, a delivery. Or scheduled work failed
  2    wrong usage, no project, a declared file that is not valid, a secret that is not set. Nothing was sent
  3    no stack is chosen or runs, the stack runs or is starting already, or the port is taken
  4    no credential, or the stack answered 401 or 403
  5    what was to be changed has changed meanwhile (412). Nothing was written
  6    the stack cannot be reached, or did not answer in time
  130  interrupted by a signal, or declined

Examples:
  $ stack build || echo "refused, or wrong usage: $?"
`,
  environment: `Environment variables that stack reads

  STACK_SERVICE_ROLE_KEY  the service-role key that is sent to a stack. It wins over STACK_ACCESS_TOKEN.
                          Without both, the local stack's own key is used, or what stack login has stored
  STACK_ACCESS_TOKEN      an operator's access token that is sent instead of a key
  STACK_CONFIRM           require: what ends or removes something needs --yes, also in a script
  XDG_CONFIG_HOME         the folder of stack/credentials.json and of the keys of stack push (default: ~/.config)
  DATABASE_URL            the URL of the owner of the database, for stack push and stack serve
  DATABASE_CA_FILE        a file of certificates (PEM) that sign that of the database
  CLOUDFLARE_API_TOKEN    the token that stack push deploys with
  CLOUDFLARE_ACCOUNT_ID   the account of the deployment (default: the only one that the token reaches)
  CLOUDFLARE_API_BASE_URL another address of Cloudflare's API
  STACK_URL               the public address of what stack serve runs. Its secrets are variables too, or files that
                          NAME_FILE names: docs/self-hosting.md lists them
  CI                      set and not empty: no command asks a question
  NO_COLOR                set and not empty: no colour, also on a terminal
  INIT_CWD                set by npm: the folder that relative paths are resolved against

A secret to sign a delivery with is in the variable that --secret-env names. What the project's own code reads is in
.dev.vars or in the vault of the stack, not in the environment of this command.

Examples:
  $ STACK_SERVICE_ROLE_KEY=srk_… stack secret list --env staging
  $ NO_COLOR=1 stack build
`,
}
