/** The ported NestJS application in `nest/` builds. Mistakes that NestJS accepts at its start are refused by the build. */
import * as fs from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import type { BuildResult } from '../../build/options.ts'
import type { Slug } from '../../build/refusals/index.ts'
import { buildProject, linkPackages, rendered, temporaryProject } from '../support/project.ts'

interface Mistake {
  /** The path below `src`. */
  file: string
  /** Texts that occur once in the file, and their replacements. */
  edits: [from: string, to: string][]
  /** Further files by their path in the project. */
  added?: Record<string, string>
  slug: Slug
  /** Below `src`. */
  at: string
  underlined: string
}

const folder = path.join(import.meta.dirname, 'nest')

function port(): Record<string, string> {
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => /^(src|stack)\b.*\.|^tsconfig\.json$/.test(name))
  return Object.fromEntries(files.map((name) => [name, fs.readFileSync(path.join(folder, name), 'utf8')]))
}

async function built(files: Record<string, string>): Promise<{ root: string; result: BuildResult }> {
  const root = temporaryProject(files)
  linkPackages(root)
  return { root, result: await buildProject(root) }
}

function edited({ file, edits, added = {} }: Mistake): Record<string, string> {
  const files = port()
  for (const [from, to] of edits) {
    const parts = files[`src/${file}`]!.split(from)
    expect(parts, from).toHaveLength(2)
    files[`src/${file}`] = parts.join(to)
  }
  for (const [name, text] of Object.entries(added)) files[name] = text
  return files
}

it('the port builds without a refusal, and serves what the application served', async () => {
  const { root, result } = await built(port())
  expect(rendered(root, result)).toBe('')
  const { routes, container } = result.built!.table
  expect(
    routes.map(
      ({ method, path, controller, handler }) => `${method} ${path} ${container[controller]!.class}.${handler}`,
    ),
  ).toEqual([
    'GET /cats CatsController.findAll',
    'GET /cats/:id CatsController.findOne',
    'POST /cats CatsController.create',
    'PUT /cats/:id CatsController.replace',
    'PATCH /cats/:id CatsController.update',
    'POST /cats/:id/adoption CatsController.adopt',
    'DELETE /cats/:id CatsController.remove',
    'GET /owners OwnersController.findAll',
    'GET /owners/:id OwnersController.findOne',
    'POST /owners OwnersController.create',
    'GET /audit AuditController.findAll',
  ])
})

/** NestJS 12 starts with each of these, its compiler accepts them, and a request goes wrong. */
const mistakes: Record<string, Mistake> = {
  'two handlers take one route': {
    file: 'cats/cats.controller.ts',
    edits: [[`@Put(':id')`, `@Patch(':id')`]],
    slug: 'route-twice',
    at: 'cats/cats.controller.ts:38',
    underlined: "@Patch(':id')",
  },
  'two routes differ in the name of their parameter alone': {
    file: 'cats/cats.controller.ts',
    edits: [
      [
        `  @Put(':id')`,
        `  @Get(':breed')
  findBreed(@Param('breed') breed: string): Cat[] {
    return this.cats.findAll(10, breed)
  }

  @Put(':id')`,
      ],
    ],
    slug: 'route-ambiguous',
    at: 'cats/cats.controller.ts:33',
    underlined: "@Get(':breed')",
  },
  '@Param names a parameter that the path lacks': {
    file: 'owners/owners.controller.ts',
    edits: [[`@Param('id', `, `@Param('ownerId', `]],
    slug: 'path-parameter-unknown',
    at: 'owners/owners.controller.ts:16',
    underlined: "'ownerId'",
  },
  'a path has a parameter that its handler does not read': {
    file: 'cats/cats.controller.ts',
    edits: [[`':id/adoption'`, `':id/adoption/:owner'`]],
    slug: 'path-parameter-unused',
    at: 'cats/cats.controller.ts:43',
    underlined: "':id/adoption/:owner'",
  },
  'a path has one parameter twice': {
    file: 'owners/owners.controller.ts',
    edits: [[`@Get(':id')`, `@Get(':id/friends/:id')`]],
    slug: 'path-malformed',
    at: 'owners/owners.controller.ts:15',
    underlined: "':id/friends/:id'",
  },
  'a path parameter is typed number, and nothing converts it': {
    file: 'owners/owners.controller.ts',
    edits: [[`@Param('id', idSchema)`, `@Param('id')`]],
    slug: 'text-typed-otherwise',
    at: 'owners/owners.controller.ts:16',
    underlined: 'number',
  },
  'a body has a type, and nothing checks it': {
    file: 'cats/cats.controller.ts',
    edits: [[`@Body(updateCatSchema)`, `@Body()`]],
    slug: 'body-unchecked',
    at: 'cats/cats.controller.ts:39',
    underlined: 'UpdateCat',
  },
  '@Query has no name, and its parameter is text': {
    file: 'shared/audit.controller.ts',
    edits: [[`@Query('action')`, `@Query()`]],
    slug: 'argument-missing',
    at: 'shared/audit.controller.ts:9',
    underlined: '@Query()',
  },
  'a parameter of a handler has no decorator': {
    file: 'cats/cats.controller.ts',
    edits: [[`@Header('X-Source') source`, `source`]],
    slug: 'parameter-without-injector',
    at: 'cats/cats.controller.ts:29',
    underlined: 'source',
  },
  'a parameter of a handler has two decorators': {
    file: 'cats/cats.controller.ts',
    edits: [[`@Header('X-Source') source`, `@Header('X-Source') @Query('source') source`]],
    slug: 'parameter-with-two-injectors',
    at: 'cats/cats.controller.ts:29',
    underlined: "@Query('source')",
  },
  'a handler is static': {
    file: 'shared/audit.controller.ts',
    edits: [
      [
        `  @Get()`,
        `  @Get('actions')
  static actions(): string[] {
    return ['cat.created', 'cat.adopted', 'owner.created']
  }

  @Get()`,
      ],
    ],
    slug: 'handler-unfit',
    at: 'shared/audit.controller.ts:9',
    underlined: 'actions',
  },
  'a decorator has the right name and comes from another package': {
    file: 'owners/owners.controller.ts',
    edits: [
      [`import { idSchema }`, `import { Delete } from 'routing-controllers'\nimport { idSchema }`],
      [`  @Get(':id')`, `  @Delete()\n  removeAll(): void {}\n\n  @Get(':id')`],
    ],
    added: {
      'node_modules/routing-controllers/package.json': '{ "name": "routing-controllers", "main": "index.js" }',
      'node_modules/routing-controllers/index.js': 'export const Delete = () => () => {}',
    },
    slug: 'decorator-foreign',
    at: 'owners/owners.controller.ts:16',
    underlined: '@Delete()',
  },
  'a route stands on a method of a provider': {
    file: 'owners/owners.service.ts',
    edits: [
      [`import { HttpError`, `import { Get, HttpError`],
      [`  findAll()`, `  @Get('all')\n  findAll()`],
    ],
    slug: 'decorator-misplaced',
    at: 'owners/owners.service.ts:19',
    underlined: "@Get('all')",
  },
  'a controller is declared under two paths': {
    file: 'owners/owners.controller.ts',
    edits: [[`@Controller('owners')`, `@Controller('owners')\n@Controller('people')`]],
    slug: 'decorator-twice',
    at: 'owners/owners.controller.ts:7',
    underlined: "@Controller('people')",
  },
  'a path is made of an environment variable, which may not be set': {
    file: 'shared/audit.controller.ts',
    edits: [[`@Controller('audit')`, `@Controller(process.env.PREFIX + '/audit')`]],
    slug: 'option-not-constant',
    at: 'shared/audit.controller.ts:4',
    underlined: `process.env.PREFIX + '/audit'`,
  },
  'the status of a route admits no body, and its handler returns one': {
    file: 'cats/cats.controller.ts',
    edits: [[`{ status: 202 }`, `{ status: 204 }`]],
    slug: 'option-malformed',
    at: 'cats/cats.controller.ts:43',
    underlined: '204',
  },
  'a controller stands in no module': {
    file: 'shared/shared.module.ts',
    edits: [[`  controllers: [AuditController],\n`, ``]],
    slug: 'class-not-listed',
    at: 'shared/audit.controller.ts:5',
    underlined: 'AuditController',
  },
  'a controller stands among the providers': {
    file: 'shared/shared.module.ts',
    edits: [[`  controllers: [AuditController],\n  providers: [`, `  providers: [AuditController, `]],
    slug: 'listed-in-the-wrong-list',
    at: 'shared/shared.module.ts:8',
    underlined: 'AuditController',
  },
  'two modules provide a class that counts for both': {
    file: 'owners/owners.module.ts',
    edits: [
      [
        `import { SharedModule }`,
        `import { SequenceService } from '../shared/sequence.service.js'\nimport { SharedModule }`,
      ],
      [`providers: [`, `providers: [SequenceService, `],
    ],
    slug: 'provided-twice',
    at: 'shared/shared.module.ts:9',
    underlined: 'SequenceService',
  },
  'a provider with dependencies has no @Injectable': {
    file: 'shared/audit.service.ts',
    edits: [
      [`import { Injectable } from '@stack/backend'\n`, ``],
      [`@Injectable()\n`, ``],
    ],
    slug: 'provider-not-injectable',
    at: 'shared/audit.service.ts:9',
    underlined: 'AuditService',
  },
}

/** NestJS 12 starts with these too, where they are no mistakes. The last one is written with `forwardRef` there. */
const habits: Record<string, Mistake> = {
  'a timer of an instance': {
    file: 'cats/cats.service.ts',
    edits: [
      [
        `  private readonly cats = new Map<number, Cat>()`,
        `  private readonly cats = new Map<number, Cat>()
  private readonly birthdays = setInterval(() => this.cats.clear(), 86_400_000)`,
      ],
    ],
    slug: 'io-outside-request',
    at: 'cats/cats.service.ts:16',
    underlined: 'setInterval(() => this.cats.clear(), 86_400_000)',
  },
  'code that is made of text': {
    file: 'shared/audit.service.ts',
    edits: [
      [
        `(entry) => action === undefined || entry.action === action`,
        `new Function('return ' + action) as () => boolean`,
      ],
    ],
    slug: 'eval-in-source',
    at: 'shared/audit.service.ts:21',
    underlined: 'Function',
  },
  'a body of a GET': {
    file: 'cats/cats.controller.ts',
    edits: [[`@Query('limit', limitSchema)`, `@Body(limitSchema)`]],
    slug: 'body-on-bodyless-route',
    at: 'cats/cats.controller.ts:19',
    underlined: '@Body(limitSchema)',
  },
  'modules that import each other': {
    file: 'owners/owners.module.ts',
    edits: [
      [`import { SharedModule }`, `import { CatsModule } from '../cats/cats.module.js'\nimport { SharedModule }`],
      [`imports: [SharedModule]`, `imports: [SharedModule, CatsModule]`],
    ],
    slug: 'module-cycle',
    at: 'cats/cats.module.ts:8',
    underlined: 'OwnersModule',
  },
}

it.each(Object.entries(mistakes))('NestJS starts, and the build says where the mistake is: %s', refuses)

it.each(Object.entries(habits))('NestJS may have it, and a worker may not: %s', refuses)

/** Expects exactly one refusal, at its place. The rest of the project is unchanged. */
async function refuses(_what: string, mistake: Mistake) {
  const files = edited(mistake)
  const { refusals } = (await built(files)).result
  const found = refusals.map(({ slug, place: { file, line, start, end } }) => ({
    slug,
    at: path.posix.relative('src', `${file}:${line}`),
    underlined: files[file]!.slice(start, end),
  }))
  const { slug, at, underlined } = mistake
  expect(found).toEqual([{ slug, at, underlined }])
}
