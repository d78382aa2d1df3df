import { Module } from '@stack/backend'
import { OwnersModule } from '../owners/owners.module.js'
import { SharedModule } from '../shared/shared.module.js'
import { CatsController } from './cats.controller.js'
import { CatsService } from './cats.service.js'

@Module({
  imports: [OwnersModule, SharedModule],
  controllers: [CatsController],
  providers: [CatsService],
})
export class CatsModule {}
