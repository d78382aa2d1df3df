import { Controller, Get, Param, Query } from '@stack/backend'
import { authError } from '../shared/errors.ts'
import { type Listed, pageOf, requireOneOf } from '../shared/list.ts'
import { Deliveries, type Delivery, type DeliveryRecord } from './rows.ts'
import { deliveryOutcomes } from './statement.ts'

/** The recorded deliveries of webhooks, for those who administer the stack (contract 9.12). */
@Controller('/v1/management/webhooks/deliveries', { auth: { serviceRole: true } })
export class DeliveriesController {
  constructor(private readonly deliveries: Deliveries) {}

  /** The newest first, without headers and bodies. */
  @Get()
  async list(
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Query('webhook') webhook: string | undefined,
    @Query('outcome') outcome: string | undefined,
  ): Promise<Listed<DeliveryRecord>> {
    const filters = { webhook, outcome: requireOneOf('outcome', outcome, deliveryOutcomes) }
    return this.deliveries.list(filters, await pageOf('deliveries', { limit, cursor }, filters))
  }

  /** One delivery with its headers, and the first 256 KiB of its body. */
  @Get(':id')
  async read(@Param('id') id: string): Promise<Delivery> {
    const delivery = await this.deliveries.byId(id)
    if (!delivery) throw authError('delivery_not_found', 'there is no such delivery, or it was not recorded')
    return delivery
  }
}
