import { Body, Controller, Delete, Get, Param, Post, Put } from '@stack/backend'
import { roleName } from '../../wire/permissions.ts'
import { type DeclaredRole, InvalidDeclaration, readRole } from '../../wire/project.ts'
import { bodyOf } from '../shared/body.ts'
import { authError } from '../shared/errors.ts'
import { type Listed, whole } from '../shared/list.ts'
import { Users } from '../users/rows.ts'
import { type HeldRole, Roles } from './rows.ts'

const declaration = bodyOf<Partial<DeclaredRole> & Pick<DeclaredRole, 'name'>, DeclaredRole>('invalid_role', (body) => {
  try {
    return { value: readRole(body) }
  } catch (error) {
    if (!(error instanceof InvalidDeclaration)) throw error
    return { fields: [{ path: error.path.join('.') || 'body', reason: error.message }] }
  }
})

/** Application roles: declared, assigned and revoked. */
@Controller('/v1/management/auth', { auth: { serviceRole: true } })
export class RolesController {
  constructor(
    private readonly roles: Roles,
    private readonly users: Users,
  ) {}

  @Get('roles')
  async list(): Promise<Listed<DeclaredRole>> {
    return whole(await this.roles.list())
  }

  /** Absolute: declaring a role again makes it what is declared now. */
  @Post('roles')
  async declare(@Body(declaration) role: DeclaredRole): Promise<DeclaredRole> {
    await this.roles.declare(role)
    return role
  }

  @Get('users/:id/roles')
  async held(@Param('id') id: string): Promise<Listed<HeldRole>> {
    await this.users.require(id)
    return whole(await this.roles.heldBy(id))
  }

  /** Assigning twice is assigning once. */
  @Put('users/:id/roles/:role')
  async assign(@Param('id') id: string, @Param('role') role: string): Promise<void> {
    await this.requireBoth(id, role)
    await this.roles.assign(id, role)
  }

  /** Revoking a role that the user does not hold changes nothing. */
  @Delete('users/:id/roles/:role')
  async revoke(@Param('id') id: string, @Param('role') role: string): Promise<void> {
    await this.requireBoth(id, role)
    await this.roles.revoke(id, role)
  }

  /** @throws HttpError 404 `role_not_defined` or `user_not_found` */
  private async requireBoth(id: string, role: string): Promise<void> {
    if (!roleName.test(role) || !(await this.roles.isDeclared(role))) {
      throw authError('role_not_defined', `no role "${role}" is declared`, { body: { role } })
    }
    await this.users.require(id)
  }
}
