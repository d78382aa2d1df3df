import { Body, Controller, Database, Get, Post } from '@stack/backend'
import * as v from 'valibot'

/** Checked before the handler runs. A refusal names every wrong field. */
const NewNote = v.strictObject({ text: v.pipe(v.string(), v.minLength(1), v.maxLength(1000)) })

interface Note {
  id: string
  text: string
  /** An RFC 3339 text in a JSON answer. */
  created_at: Date
}

/** Every route requires a signed-in user, which is the default. Row-level security decides which notes a user sees. */
@Controller('/notes')
export class NotesController {
  @Get()
  list(): Promise<Note[]> {
    return Database.sql<Note>`select id, text, created_at from notes order by id`
  }

  @Post('', { status: 201 })
  async add(@Body(NewNote) { text }: v.InferOutput<typeof NewNote>): Promise<Note> {
    const [note] = await Database.sql<Note>`insert into notes (text) values (${text}) returning id, text, created_at`
    return note!
  }
}
