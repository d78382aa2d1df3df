import { Controller, Get } from '@stack/backend'

@Controller('limited', { auth: false, limit: { requests: 3, seconds: 60, by: 'ip' } })
export class LimitedController {
  @Get('one')
  one() {
    return 1
  }

  @Get('two')
  two() {
    return 2
  }

  @Get('mine/:id', { auth: true, limit: { requests: 2, seconds: 60, by: 'user' } })
  mine() {
    return 'mine'
  }

  @Get('staff', { auth: { role: 'insider' }, limit: { requests: 2, seconds: 60, by: 'user' } })
  staff() {
    return 'staff'
  }
}
