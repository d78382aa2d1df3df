import { Module } from '@stack/backend'
import { CatsModule } from './cats/cats.module.js'
import { OwnersModule } from './owners/owners.module.js'
import { SharedModule } from './shared/shared.module.js'

@Module({ auth: false, imports: [CatsModule, OwnersModule, SharedModule] })
export class AppModule {}
