import { Controller, Get, OptionalUser, User, type UserT } from '@stack/backend'

/** Declares nothing: the application default applies. */
@Controller('default')
export class DefaultController {
  @Get()
  enter() {
    return 'entered'
  }
}

/** Declares for the controller, and again on its routes: rules never merge. */
@Controller('gates', { auth: { verifiedEmail: true } })
export class GatesController {
  @Get('controller')
  controller() {
    return 'entered'
  }

  @Get('signed-in', { auth: true })
  signedIn(@User() user: UserT) {
    return user
  }

  @Get('object', { auth: {} })
  object() {
    return 'entered'
  }

  @Get('false', { auth: false })
  open(@OptionalUser() user: UserT | null) {
    return { user }
  }

  @Get('not-required', { auth: { required: false } })
  notRequired() {
    return 'entered'
  }
}

/** Admits callers without a token, but asks for grants that an anonymous caller never has (contract 4.5). */
@Controller('open', { auth: { required: false, permission: 'probe.enter' } })
export class OpenController {
  @Get('permission')
  permission() {
    return 'entered'
  }

  @Get('role', { auth: { required: false, role: 'insider' } })
  role() {
    return 'entered'
  }

  @Get('verified', { auth: { required: false, verifiedEmail: true } })
  verified() {
    return 'entered'
  }
}
