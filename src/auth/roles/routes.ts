import {
  Body,
  Controller,
  Delete,
  Get,
  type HttpError,
  OptionalUser,
  Param,
  Post,
  Put,
  Query,
  Req,
  RequestId,
  type UserT,
} from '@stack/backend'
import { roleName } from '../../wire/permissions.ts'
import { type DeclaredRole, InvalidDeclaration, readRole } from '../../wire/project.ts'
import { Audit, administering } from '../audit/rows.ts'
import { bodyOf } from '../shared/body.ts'
import { changesBetween } from '../shared/changes.ts'
import { authError } from '../shared/errors.ts'
import { type Listed, pageOf, whole } from '../shared/list.ts'
import { suggestion } from '../shared/suggestion.ts'
import { Users } from '../users/rows.ts'
import { type HeldRole, type Holder, Roles } from './rows.ts'

const declaration = bodyOf<Partial<DeclaredRole> & Pick<DeclaredRole, 'name'>, DeclaredRole>('invalid_role', (body) => {
  try {
    return { value: readRole(body) }
  } catch (error) {
    if (!(error instanceof InvalidDeclaration)) throw error
    return { fields: [{ path: error.path.join('.') || 'body', reason: error.message }] }
  }
})

/** Application roles: declared, assigned, revoked and deleted. */
@Controller('/v1/management/auth', { auth: { serviceRole: true } })
export class RolesController {
  constructor(
    private readonly audit: Audit,
    private readonly roles: Roles,
    private readonly users: Users,
  ) {}

  @Get('roles')
  async list(): Promise<Listed<DeclaredRole>> {
    return whole(await this.roles.list())
  }

  /** Absolute: declaring a role again makes it what is declared now. */
  @Post('roles')
  async declare(
    @Body(declaration) role: DeclaredRole,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<DeclaredRole> {
    const { before, replaced } = await this.roles.declare(role)
    const after = (await this.roles.byName(role.name))!
    const changes = changesBetween(before ?? {}, after)
    const by = administering(operator, request, requestId)
    const target = { type: 'role', id: role.name } as const
    if (!before) await this.audit.record({ event: 'role.created', ...by, target, changes })
    else if (changes.length > 0) await this.audit.record({ event: 'role.updated', ...by, target, changes })
    if (replaced !== undefined) {
      const noDefault = [{ path: 'default', from: true, to: false }]
      await this.audit.record({
        event: 'role.updated',
        ...by,
        target: { type: 'role', id: replaced },
        changes: noDefault,
      })
    }
    return role
  }

  /** A role that users hold is not deleted: 409 `role_in_use`. */
  @Delete('roles/:name')
  async remove(
    @Param('name') role: string,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<void> {
    const result = roleName.test(role) ? await this.roles.remove(role) : 'unknown'
    if (result === 'unknown') throw await this.notDefined(role)
    if (result === 'held') throw authError('role_in_use', undefined, { body: { role } })
    await this.audit.record({
      event: 'role.deleted',
      ...administering(operator, request, requestId),
      target: { type: 'role', id: role },
    })
  }

  /** The users who hold the role, by their ids. */
  @Get('roles/:name/users')
  async holders(
    @Param('name') role: string,
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
  ): Promise<Listed<Holder>> {
    const page = await pageOf('role holders', { limit, cursor }, { role })
    if (!roleName.test(role) || !(await this.roles.byName(role))) throw await this.notDefined(role)
    const rows = await this.roles.holdersOf(role, page.limit + 1, page.after?.[0])
    return page.of(rows, ({ user_id }) => [user_id])
  }

  @Get('users/:id/roles')
  async held(@Param('id') id: string): Promise<Listed<HeldRole>> {
    await this.users.require(id)
    return whole(await this.roles.heldBy(id))
  }

  /** Assigning twice is assigning once. */
  @Put('users/:id/roles/:role')
  async assign(
    @Param('id') id: string,
    @Param('role') role: string,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<void> {
    await this.requireBoth(id, role)
    if (await this.roles.assign(id, role)) {
      await this.note('role.assigned', id, role, administering(operator, request, requestId))
    }
  }

  /** Revoking a role that the user does not hold changes nothing. */
  @Delete('users/:id/roles/:role')
  async revoke(
    @Param('id') id: string,
    @Param('role') role: string,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<void> {
    await this.requireBoth(id, role)
    if (await this.roles.revoke(id, role)) {
      await this.note('role.revoked', id, role, administering(operator, request, requestId))
    }
  }

  /** @throws HttpError 404 `role_not_defined` or `user_not_found` */
  private async requireBoth(id: string, role: string): Promise<void> {
    if (!roleName.test(role) || !(await this.roles.hold(role))) throw await this.notDefined(role)
    await this.users.hold(id)
  }

  private note(
    event: 'role.assigned' | 'role.revoked',
    id: string,
    role: string,
    by: ReturnType<typeof administering>,
  ): Promise<void> {
    return this.audit.record({ event, ...by, target: { type: 'user', id }, details: { role } })
  }

  private async notDefined(role: string): Promise<HttpError> {
    const names = (await this.roles.list()).map(({ name }) => name)
    return authError('role_not_defined', `no role "${role}" is declared${suggestion(role, names)}`, { body: { role } })
  }
}
