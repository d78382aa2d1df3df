/** A project with a table under row-level security, and handlers that hold their transactions. */
import * as fs from 'node:fs'
import path from 'node:path'
import { type Project, readProject } from '../../src/wire/project.ts'

const files: Record<string, string> = {
  'stack/project.json': '{ "project": "availability" }\n',
  'tsconfig.json': '{ "compilerOptions": { "experimentalDecorators": true } }\n',
  'migrations/0001_notes.sql': `create table public.notes (
  id bigint generated always as identity primary key,
  owner text not null default auth.uid(),
  text text not null
);
alter table public.notes enable row level security;
create policy own on public.notes to backend_authenticated
  using (owner = (select auth.uid())) with check (owner = (select auth.uid()));
grant select, insert on public.notes to backend_authenticated;
`,
  'src/app.module.ts': `import { Body, Controller, Database, Get, Module, Post, User, type UserT } from '@stack/backend'

@Controller('/notes')
export class NotesController {
  @Get()
  list(@User() _user: UserT) {
    return Database.sql\`select id, text from notes order by id limit 10\`
  }

  @Post()
  add(@Body() body: unknown, @User() _user: UserT) {
    return Database.sql\`insert into notes (text) values (\${JSON.stringify(body)}) returning id\`
  }

  @Post('waiting')
  async waiting() {
    await Database.sql\`select 1\`
    await new Promise((resolve) => setTimeout(resolve, 9_000))
  }

  @Post('sleeping')
  async sleeping() {
    await Database.sql\`select pg_sleep(9)\`
  }
}

@Module({ controllers: [NotesController] })
export class AppModule {}
`,
}

/** @param root an empty folder. */
export function writeProject(root: string): Project {
  for (const [name, contents] of Object.entries(files)) {
    const file = path.join(root, name)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, contents)
  }
  return readProject({ project: 'availability' })
}
