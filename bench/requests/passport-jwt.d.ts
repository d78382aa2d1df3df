/** The package brings no types: what the peer uses of it. */
declare module 'passport-jwt' {
  export const ExtractJwt: { fromAuthHeaderAsBearerToken(): unknown }
  export class Strategy {
    constructor(options: Record<string, unknown>)
  }
}
