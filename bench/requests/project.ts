/** A project of 100 routes: the 4 that are measured, among others of a real backend. */
import { type PlainRoute, routes200 } from '../build/routes-200.ts'
import { builtModules } from '../bundle.ts'
import type { WorkerModule } from '../workerd.ts'
import { profile } from './profile.ts'

/** Routes that no request of the bench asks for. Every variant has them. */
export const otherRoutes: PlainRoute[] = routes200.slice(0, 96)

/** @param folder the folder that the project is written to. */
export function projectModules(folder: string): Promise<WorkerModule[]> {
  return builtModules(folder, source())
}

const methods: Record<string, string> = { GET: 'Get', POST: 'Post', PUT: 'Put', DELETE: 'Delete' }

function source(): string {
  const others = otherRoutes.map(
    ({ method, path }, index) => `  @${methods[method]}('${path}') other${index}() { return { at: '${path}' } }`,
  )
  return `import { Body, Controller, Database, Delete, Get, HttpError, Module, Post, Put } from '@stack/backend'

@Controller()
export class OtherController {
${others.join('\n')}
}

@Controller('/plain', { auth: false })
export class PlainController {
  @Get()
  plain() {
    return { ok: true }
  }
}

@Controller('/profile')
export class ProfileController {
  @Get()
  show() {
    return ${JSON.stringify(profile)}
  }
}

@Controller('/notes')
export class NotesController {
  @Get('', { auth: { permission: 'notes.read' } })
  list() {
    return Database.sql\`select id, text from notes order by id limit 10\`
  }

  @Post('', { status: 201, auth: { permission: 'notes.write' } })
  async add(@Body() body: unknown) {
    const { text } = (body ?? {}) as { text?: unknown }
    if (typeof text !== 'string') throw new HttpError(400, 'invalid_request', 'a note has a text')
    const [note] = await Database.sql\`insert into notes (text) values (\${text}) returning text\`
    return note
  }
}

@Module({ controllers: [OtherController, PlainController, ProfileController, NotesController] })
export class AppModule {}
`
}
