import { Controller, Get, Module } from '@stack/backend'
import { depths } from './depths'

@Controller('/depths')
export class DepthsController {
  @Get()
  list(): unknown {
    return depths
  }
}

@Module({ controllers: [DepthsController] })
export class AppModule {}
// file: src/depths.ts
export const depths = JSON.parse('[[[[]]]]')
