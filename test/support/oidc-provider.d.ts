/** Types of the part that the tests use: the package brings none. */
declare module 'oidc-provider' {
  export default class Provider {
    constructor(issuer: string, configuration: object)
    callback(): (request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => void
  }
}
