import { Body, Controller, Get, Header, Param, Post, Query } from '@stack/backend'
import { type } from 'arktype'
import * as v from 'valibot'
import * as z from 'zod'

/** Schemas of numbers, booleans and lists that convert no text themselves, for parts of an address (contract 2.8). */
@Controller('texts/zod', { auth: false })
export class ZodTexts {
  @Get('number')
  number(@Query('n', z.number()) n: number) {
    return { n }
  }

  @Get('boolean')
  boolean(@Query('b', z.boolean()) b: boolean) {
    return { b }
  }

  @Get('list')
  list(@Query('ids', z.array(z.int())) ids: number[]) {
    return { ids }
  }

  @Get('whole')
  whole(
    @Query(
      z.strictObject({
        n: z.number().default(1),
        b: z.boolean().optional(),
        ids: z.array(z.number()).optional(),
        tag: z.union([z.string(), z.array(z.string())]).optional(),
        text: z.string().optional(),
      }),
    )
    query: { n: number },
  ) {
    return query
  }

  @Get('path/:id/:ids')
  path(@Param('id', z.int()) id: number, @Param('ids', z.array(z.int())) ids: number[]) {
    return { id, ids }
  }

  @Get('header')
  header(@Header('x-ids', z.array(z.number())) ids: number[], @Header('x-on', z.boolean().optional()) on?: boolean) {
    return { ids, on: on ?? null }
  }

  /** Schemas that also take text, so that text stays as it is. */
  @Get('either')
  either(
    @Query('tags', z.array(z.string()).optional()) tags: string[] | undefined,
    @Query('either', z.union([z.string(), z.number()]).optional()) either: string | number | undefined,
    @Query('split', z.preprocess((value) => String(value).split('-'), z.array(z.string())).optional())
    split: string[] | undefined,
  ) {
    return { tags: tags ?? null, either: either ?? null, split: split ?? null }
  }

  /** A schema that JSON Schema cannot express in full. */
  @Post('hard')
  hard(
    @Body(
      z.object({
        at: z.coerce.date(),
        price: z.string().regex(/^\d+$/).transform(Number),
        big: z.bigint().optional(),
        tree: z.object({
          name: z.string(),
          get children() {
            return z.array(z.object({ name: z.string() })).optional()
          },
        }),
        note: z.string().default('none'),
      }),
    )
    body: { at: Date; price: number; note: string },
  ) {
    return { at: body.at, price: body.price, note: body.note }
  }
}

@Controller('texts/valibot', { auth: false })
export class ValibotTexts {
  @Get('number')
  number(@Query('n', v.number()) n: number) {
    return { n }
  }

  @Get('boolean')
  boolean(@Query('b', v.boolean()) b: boolean) {
    return { b }
  }

  @Get('list')
  list(@Query('ids', v.array(v.pipe(v.number(), v.integer()))) ids: number[]) {
    return { ids }
  }

  @Get('whole')
  whole(
    @Query(
      v.strictObject({
        n: v.optional(v.number(), 1),
        b: v.optional(v.boolean()),
        ids: v.optional(v.array(v.number())),
        tag: v.optional(v.union([v.string(), v.array(v.string())])),
        text: v.optional(v.string()),
      }),
    )
    query: { n: number },
  ) {
    return query
  }
}

@Controller('texts/arktype', { auth: false })
export class ArktypeTexts {
  @Get('number')
  number(@Query('n', type('number')) n: number) {
    return { n }
  }

  @Get('boolean')
  boolean(@Query('b', type('boolean')) b: boolean) {
    return { b }
  }

  @Get('list')
  list(@Query('ids', type('number.integer[]')) ids: number[]) {
    return { ids }
  }

  @Get('whole')
  whole(
    @Query(
      type({
        '+': 'reject',
        n: 'number = 1',
        'b?': 'boolean',
        'ids?': 'number[]',
        'tag?': 'string | string[]',
        'text?': 'string',
      }),
    )
    query: { n: number },
  ) {
    return query
  }
}
