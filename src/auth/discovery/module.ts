import { Module } from '@stack/backend'
import { DiscoveryController } from './routes.ts'

/** What a verifier of access tokens must know of the issuer. */
@Module({ controllers: [DiscoveryController] })
export class DiscoveryModule {}
