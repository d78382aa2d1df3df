import { Body, Controller, Database, Post } from '@stack/backend'

/** Shows the values of a row in the worker and in its answer. */
@Controller('columns', { auth: false })
export class ColumnsController {
  @Post()
  async read(@Body() body: unknown) {
    const [row] = await Database.query((body as { text: string }).text)
    return Object.entries(row!).map(([name, value]) => ({ name, kind: kindOf(value), json: value }))
  }

  /** Answers the text of a date as the handler reads it. */
  @Post('moment')
  async moment(@Body() body: unknown) {
    const [row] = await Database.query<{ at: Date }>((body as { text: string }).text)
    return { iso: row!.at.toISOString(), isDate: row!.at instanceof Date }
  }
}

function kindOf(value: unknown): string {
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value
  if (Array.isArray(value)) return `${value.length === 0 ? '' : kindOf(value[0])}[]`
  return value.constructor.name
}
