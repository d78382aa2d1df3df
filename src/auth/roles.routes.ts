import { Controller, Delete, Get, OptionalUser, Param, Post, Put, Req, type UserT } from '@stack/backend'
import { userId } from '../wire/ids.ts'
import { roleName } from '../wire/permissions.ts'
import { type DeclaredRole, InvalidDeclaration, readRole } from '../wire/project.ts'
import { authError, bodyOf } from './answers.ts'
import { requireServiceRole } from './management-gate.ts'
import { Roles } from './roles.rows.ts'
import { Users } from './users.rows.ts'

/** Application roles: declared, assigned and revoked with the service-role key alone. */
@Controller('/v1/management/auth', { auth: false })
export class RolesController {
  constructor(
    private readonly roles: Roles,
    private readonly users: Users,
  ) {}

  @Get('roles')
  async list(@Req() request: Request, @OptionalUser() user: UserT | null) {
    await requireServiceRole(request, user)
    return { data: await this.roles.list(), has_more: false, next_cursor: null }
  }

  /** Absolute: declaring a role again makes it what is declared now. */
  @Post('roles')
  async declare(@Req() request: Request, @OptionalUser() user: UserT | null): Promise<DeclaredRole> {
    await requireServiceRole(request, user)
    const role = judgedRole(await bodyOf(request))
    await this.roles.declare(role)
    return role
  }

  @Get('users/:id/roles')
  async held(@Req() request: Request, @OptionalUser() user: UserT | null, @Param('id') id: string) {
    await requireServiceRole(request, user)
    await this.requireUser(id)
    return { data: await this.roles.heldBy(id), has_more: false, next_cursor: null }
  }

  @Put('users/:id/roles/:role')
  async assign(
    @Req() request: Request,
    @OptionalUser() user: UserT | null,
    @Param('id') id: string,
    @Param('role') role: string,
  ): Promise<void> {
    await requireServiceRole(request, user)
    await this.requireBoth(id, role)
    await this.roles.assign(id, role)
  }

  @Delete('users/:id/roles/:role')
  async revoke(
    @Req() request: Request,
    @OptionalUser() user: UserT | null,
    @Param('id') id: string,
    @Param('role') role: string,
  ): Promise<void> {
    await requireServiceRole(request, user)
    await this.requireBoth(id, role)
    await this.roles.revoke(id, role)
  }

  private async requireBoth(id: string, role: string): Promise<void> {
    if (!roleName.test(role) || !(await this.roles.isDeclared(role))) {
      throw authError('role_not_defined', `no role "${role}" is declared`, { body: { role } })
    }
    await this.requireUser(id)
  }

  private async requireUser(id: string): Promise<void> {
    if (!userId.test(id) || !(await this.users.exists(id))) {
      throw authError('user_not_found', `there is no user "${id}"`)
    }
  }
}

function judgedRole(body: unknown): DeclaredRole {
  try {
    return readRole(body)
  } catch (error) {
    if (!(error instanceof InvalidDeclaration)) throw error
    throw authError('invalid_role', error.message, {
      fields: [{ path: error.path.join('.') || 'body', reason: error.message }],
    })
  }
}
