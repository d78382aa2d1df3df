/** The verb that serves a stack on one's own machines. */
import { availableParallelism } from 'node:os'
import { Option } from 'commander'
import { type Group, jsonFlag, projectFlag, wholeNumber } from '../shared/verb.ts'
import type { ServeFlags } from './serve.ts'

export const serve: Group = {
  summaries: {},
  verbs: [
    {
      name: 'serve',
      summary: 'run the project in production on this machine, on the Postgres of DATABASE_URL',
      options: [
        projectFlag(),
        new Option('--host <address>', 'the address to listen on').default('127.0.0.1'),
        new Option('--port <number>', 'the port of the API, exit 3 where it is taken')
          .argParser(wholeNumber(1, 65535))
          .default(8080),
        new Option(
          '--workers <number>',
          `workerd processes (default: one a core, here ${availableParallelism()})`,
        ).argParser(wholeNumber(1, 256)),
        new Option('--out <dir>', 'serve this build instead of building the project'),
        new Option(
          '--storage <place>',
          'where Storage keeps objects: a folder, or s3://bucket/prefix (default: a folder of --state)',
        ),
        new Option('--state <dir>', 'keeps the secrets that are made (default: .stack/serve)'),
        new Option('--vars <file>', 'bindings of the project, one NAME=value a line'),
        new Option(
          '--trust-proxy <addresses>',
          'proxies whose x-forwarded-for names the client: addresses and networks, or loopback, private',
        ),
        new Option('--grace <seconds>', 'longest time of requests in flight at the end')
          .argParser(wholeNumber(1, 3600))
          .default(30),
        new Option('--metrics-host <address>', 'the address of /metrics and /health').default('127.0.0.1'),
        new Option('--metrics-port <number>', 'the port of /metrics and /health')
          .argParser(wholeNumber(1, 65535))
          .default(9464),
        new Option('--no-metrics', 'open no port for metrics'),
        new Option('--no-access-log', 'log no line for each request'),
        new Option('--take-over', 'give the database the keys of this machine, where another one has served it'),
        new Option('--reload', 'have the stack that is served from --state build and serve anew, then end'),
        new Option('--print-config [kind]', 'print a configuration of one’s own, then end')
          .choices(['workerd', 'dockerfile', 'systemd'])
          .preset('all'),
        jsonFlag('accepted for scripts: the log is always JSON lines on stdout'),
      ],
      examples: [
        'stack serve',
        'stack serve --trust-proxy loopback --state /var/lib/stack',
        'stack serve --host 0.0.0.0 --storage s3://objects/shop --workers 4',
        'stack serve --reload',
        'stack serve --print-config systemd > stack.service',
      ],
      run: async (flags: ServeFlags) => (await import('./serve.ts')).runServe(flags),
    },
  ],
}
