import { Body, Controller, Delete, Get, Header, Param, Patch, Post, Query, type StandardSchema } from '@stack/backend'
import { type } from 'arktype'
import * as v from 'valibot'
import * as z from 'zod'
import { Page } from './page.ts'

const Item = z.strictObject({ sku: z.string(), quantity: z.int().positive() })
const Order = z.strictObject({ note: z.string().default('none'), items: z.array(Item).min(1) })
type Order = z.infer<typeof Order>

const Address = v.object({ city: v.pipe(v.string(), v.minLength(2)), zip: v.optional(v.string()) })

/** A schema that no library makes: it is asynchronous, and its paths are lists of objects. */
const Taken: StandardSchema<unknown, { name: string }> = {
  '~standard': {
    version: 1,
    vendor: 'probe',
    validate: async (value) => {
      const { name } = value as { name: string }
      if (name !== 'taken') return { value: { name } }
      return { issues: [{ message: 'is taken', path: [{ key: 'name' }] }, { message: 'x'.repeat(1000) }] }
    },
  },
}

@Controller('schemas', { auth: false })
export class SchemasController {
  @Post('zod')
  zod(@Body(Order) order: Order) {
    return order
  }

  @Post('valibot')
  valibot(@Body(Address) address: v.InferOutput<typeof Address>) {
    return address
  }

  @Post('arktype')
  arktype(@Body(type({ age: 'number > 17' })) person: { age: number }) {
    return person
  }

  @Post('own')
  own(@Body(Taken) { name }: { name: string }) {
    return name
  }

  @Get('page')
  page(@Query(Page) page: Page) {
    return page
  }

  @Get('item/:id')
  item(
    @Param('id', z.coerce.number().int()) id: number,
    @Query('limit', z.coerce.number().max(50).default(10)) limit: number,
    @Header(
      'x-tag',
      z
        .string()
        .regex(/^[a-z]+$/)
        .optional(),
    )
    tag?: string,
  ) {
    return { id, limit, tag: tag ?? null }
  }

  @Patch('item/:id')
  change(
    @Param('id', z.coerce.number().int()) id: number,
    @Body(Item.partial()) change: Partial<z.infer<typeof Item>>,
  ) {
    return { id, ...change }
  }

  @Delete('item/:id')
  remove(@Param('id') id: string) {
    void id
  }
}
