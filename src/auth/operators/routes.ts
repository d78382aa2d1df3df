import { Controller, Delete, Get, Param, Put } from '@stack/backend'
import { type Listed, whole } from '../shared/list.ts'
import { Users } from '../users/rows.ts'
import { type Operator, Operators } from './rows.ts'

/** The list of operators, who administer with their own access token (contract 9.7). Only the service-role key changes it. */
@Controller('/v1/management/auth/operators', { auth: { serviceRole: 'key' } })
export class OperatorsController {
  constructor(
    private readonly operators: Operators,
    private readonly users: Users,
  ) {}

  @Get()
  async list(): Promise<Listed<Operator>> {
    return whole(await this.operators.list())
  }

  /** The user's next access token carries `management: true`: a sign-in or a refresh issues it. */
  @Put(':id')
  async add(@Param('id') id: string): Promise<void> {
    await this.users.require(id)
    await this.operators.add(id)
  }

  /** In force on the very next call, also for tokens that were issued before. */
  @Delete(':id')
  async remove(@Param('id') id: string): Promise<void> {
    await this.users.require(id)
    await this.operators.remove(id)
  }
}
