import { Controller, Get } from '@stack/backend'
import { keys } from '../../wire/operations.ts'
import { type JsonResponse, jsonResponse } from '../shared/answer.ts'
import { baseUrl } from '../shared/urls.ts'

/** Seconds that a document is cached: it changes with the address of the stack alone. */
const cacheSeconds = 3_600

interface Metadata {
  issuer: string
  jwks_uri: string
  response_types_supported: string[]
  grant_types_supported: string[]
  subject_types_supported: string[]
  id_token_signing_alg_values_supported: string[]
  claims_supported: string[]
}

/**
 * The metadata of the issuer (OpenID Connect Discovery 1.0 section 3, RFC 8414 section 3.2), as far as it is true: access tokens are
 * issued by the module's own routes, so there is neither an authorization endpoint nor a grant type.
 */
@Controller('', { auth: false })
export class DiscoveryController {
  @Get('auth/.well-known/openid-configuration')
  openid(): JsonResponse<Metadata> {
    return document()
  }

  /** RFC 8414 puts the path of the issuer behind the well-known one. */
  @Get('.well-known/oauth-authorization-server/auth')
  oauth(): JsonResponse<Metadata> {
    return document()
  }
}

function document(): JsonResponse<Metadata> {
  const base = baseUrl()
  const metadata: Metadata = {
    issuer: `${base}/auth`,
    jwks_uri: `${base}${keys.keySet.path}`,
    response_types_supported: [],
    grant_types_supported: [],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    claims_supported: [
      ...['iss', 'sub', 'aud', 'exp', 'iat', 'jti', 'auth_time', 'session_id', 'email', 'email_verified', 'role'],
      ...['aal', 'amr', 'management', 'custom_claims'],
    ],
  }
  return jsonResponse(metadata, { headers: { 'cache-control': `public, max-age=${cacheSeconds}` } })
}
