import { Controller, Delete, Get, Param, Put, Req, RequestId } from '@stack/backend'
import { Audit } from '../audit/rows.ts'
import { type ClientInfo, clientOf } from '../shared/client.ts'
import { type Listed, whole } from '../shared/list.ts'
import { Users } from '../users/rows.ts'
import { type Operator, Operators } from './rows.ts'

/** The list of operators, who administer with their own access token (contract 9.7). Only the service-role key changes it. */
@Controller('/v1/management/auth/operators', { auth: { serviceRole: 'key' } })
export class OperatorsController {
  constructor(
    private readonly audit: Audit,
    private readonly operators: Operators,
    private readonly users: Users,
  ) {}

  @Get()
  async list(): Promise<Listed<Operator>> {
    return whole(await this.operators.list())
  }

  /** The user's next access token carries `management: true`: a sign-in or a refresh issues it. */
  @Put(':id')
  async add(@Param('id') id: string, @Req() request: Request, @RequestId() requestId: string): Promise<void> {
    await this.users.hold(id)
    if (await this.operators.add(id)) await this.note('operator.added', id, clientOf(request, requestId))
  }

  /** In force on the very next call, also for tokens that were issued before. */
  @Delete(':id')
  async remove(@Param('id') id: string, @Req() request: Request, @RequestId() requestId: string): Promise<void> {
    await this.users.hold(id)
    if (await this.operators.remove(id)) await this.note('operator.removed', id, clientOf(request, requestId))
  }

  private note(event: 'operator.added' | 'operator.removed', id: string, client: ClientInfo): Promise<void> {
    return this.audit.record({ event, actor: { type: 'service' }, target: { type: 'user', id }, client })
  }
}
