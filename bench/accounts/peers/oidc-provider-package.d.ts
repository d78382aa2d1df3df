/** The package brings no types: what the peer uses of it. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'

  class Model {
    constructor(fields: Record<string, unknown>)
    save(): Promise<string>
  }

  export default class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>)
    callback(): RequestListener
    readonly Client: { find(id: string): Promise<unknown> }
    readonly Grant: new (
      fields: Record<string, unknown>,
    ) => Model & { addResourceScope(resource: string, scope: string): void }
    readonly RefreshToken: typeof Model
  }
}
