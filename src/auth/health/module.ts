import { Module } from '@stack/backend'
import { HealthController } from './routes.ts'

/** Whether the stack can serve, for load balancers. */
@Module({ controllers: [HealthController] })
export class HealthModule {}
