import { Body, Controller, Database, Get, HttpError, Injectable, Param, Post, User, type UserT } from '@stack/backend'
import { readEarly } from './early.ts'

interface Statement {
  text: string
  values?: unknown[]
}

/** Asks for rows in its constructor, where there is no caller: every later request would see the same rows. */
@Injectable()
export class Hoarder {
  readonly rows = readEarly()
}

/** Runs the SQL that a test sends, as the caller or as the service, like a handler with an SQL injection. */
@Controller('sql', { auth: true })
export class SqlController {
  constructor(private readonly hoarder: Hoarder) {}

  @Get('hoarded')
  hoarded() {
    return this.hoarder.rows
  }

  @Post('caller')
  async caller(@Body() body: unknown) {
    const results: unknown[] = []
    for (const { text, values } of body as Statement[]) results.push(await Database.query(text, values))
    return results
  }

  @Post('service')
  async service(@Body() body: unknown) {
    const results: unknown[] = []
    for (const { text, values } of body as Statement[]) results.push(await Database.$asService().query(text, values))
    return results
  }

  @Post('note/:text')
  async note(@Param('text') text: string) {
    await Database.sql`insert into notes (text) values (${text})`
  }

  @Post('throw-after-writing/:text')
  async throwing(@Param('text') text: string) {
    await Database.sql`insert into notes (text) values (${`${text} by the caller`})`
    await Database.$asService().sql`insert into notes (owner, text) values ('service', ${`${text} by the service`})`
    throw new Error('after writing')
  }

  @Post('refuse-after-writing/:text')
  async refusing(@Param('text') text: string) {
    await Database.sql`insert into notes (text) values (${text})`
    throw new HttpError(422, 'no', 'no')
  }

  @Post('swallow/:text')
  async swallow(@Param('text') text: string) {
    await Database.sql`insert into notes (text) values (${text})`
    await Database.sql`select 1 / 0`.catch(() => {})
    return 'all is well'
  }

  @Post('swallow-in-service/:text')
  async swallowInService(@Param('text') text: string) {
    await Database.sql`insert into notes (text) values (${text})`
    await Database.$asService().sql`select 1 / 0`.catch(() => {})
    return 'all is well'
  }

  /** Writes without awaiting the result. */
  @Post('unawaited/:text')
  async unawaited(@Param('text') text: string) {
    Database.sql`insert into notes (text) values (${text})`.catch(() => {})
    return 'all is well'
  }

  @Get('nul')
  async nul() {
    return Database.sql`select ${'a\0'}::text`
  }

  /** Sends a statement before the result of the previous one, which ends the transaction, is known. */
  @Post('overtaken')
  async overtaken() {
    const text = `overtaken ${crypto.randomUUID()}`
    await Promise.allSettled([
      Database.query('/* /* */ */ commit'),
      Database.sql`insert into notes (text) values (${text})`,
    ])
    return 'all is well'
  }

  @Post('late/:id')
  async late(@Param('id') id: string) {
    await Database.sql`insert into late (id, parent) values (${id}, -1)`
    return 'all is well'
  }

  @Get('both')
  async both(@User() user: UserT) {
    const [caller] = await Database.sql`select auth.uid() as uid, current_user::text as role`
    const [service] = await Database.$asService().sql`select auth.uid() as uid, current_user::text as role`
    return { user: user.id, caller, service }
  }

  @Get('parallel')
  async parallel() {
    const rows = await Promise.all(
      [1, 2, 3, 4].map((number) => Database.sql<{ n: number }>`select ${number}::int as n`),
    )
    return rows.map(([row]) => row?.n)
  }

  @Get('types')
  async types() {
    const [row] = await Database.sql`
      select 1 as int, 2::bigint as big, 1.5::float8 as float, true as bool, 'x'::text as text, null as nothing,
        '{"a":[1]}'::jsonb as json, array[1,2] as list, '2026-01-02T03:04:05Z'::timestamptz as time`
    return row
  }
}
