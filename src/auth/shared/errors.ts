/** The error codes that the auth module adds to those of both workers (contract 6.2). This is the whole list. */
import { HttpError } from '@stack/backend'

/** code → status, and the description that is used where none is given. `wire/envelope.ts` has the codes of both workers. */
export const authErrors = {
  invalid_credentials: { status: 401, description: 'the email address or the password is wrong' },
  invalid_refresh_token: { status: 401, description: 'the refresh token is not valid any more: sign in again' },
  email_not_confirmed: { status: 403, description: 'the email address must be confirmed first' },
  invalid_token: { status: 400, description: 'the link or the code is not valid any more: ask for a new one' },
  same_email: { status: 400, description: 'this is the address of the account already' },
  phone_not_allowed: { status: 422, description: 'codes are not sent to this phone number here' },
  phone_taken: { status: 409, description: 'there is an account with this phone number' },
  same_phone: { status: 400, description: 'this is the phone number of the account already' },
  email_taken: { status: 409, description: 'there is an account with this email address' },
  hook_failed: { status: 500, description: 'a hook of this project failed' },
  invalid_code: { status: 401, description: 'the code is wrong, or was used already' },
  invalid_challenge: { status: 401, description: 'this sign-in has ended: sign in again' },
  invalid_redirect: { status: 400, description: 'this client may not be sent back to that address' },
  invalid_state: { status: 400, description: 'this sign-in has ended, or was begun elsewhere: begin again' },
  invalid_id_token: { status: 401, description: 'the ID token is not valid for this client' },
  access_denied: { status: 403, description: 'the sign-in was cancelled' },
  provider_failed: { status: 502, description: 'the provider did not answer as it should: try again' },
  client_not_found: { status: 404, description: 'there is no such client of this provider' },
  account_exists: {
    status: 409,
    description: 'there is an account with this email address: sign in to it first, then link the provider',
  },
  identity_taken: { status: 409, description: 'this identity belongs to another account' },
  identity_not_found: { status: 404, description: 'there is no such identity' },
  factor_exists: { status: 409, description: 'there is a second factor already: remove it first' },
  invalid_passkey: { status: 401, description: 'the passkey was not accepted: try again' },
  passkey_exists: { status: 409, description: 'this passkey belongs to an account already' },
  too_many_passkeys: { status: 409, description: 'this account has 20 passkeys: remove one first' },
  last_way_in: { status: 409, description: 'this is the only way to sign in to the account: add another one first' },
  factor_not_found: { status: 404, description: 'there is no such second factor' },
  second_factor_required: { status: 403, description: 'prove the second factor first: this session has not' },
  too_many_consents: { status: 409, description: 'no more consents can be recorded for this account' },
  recent_sign_in_required: { status: 403, description: 'sign in again first: this session is older than ten minutes' },
  sign_up_disabled: { status: 403, description: 'signing up is switched off here' },
  sign_up_refused: { status: 422, description: 'the sign-up was refused' },
  user_disabled: { status: 403, description: 'this account is disabled' },
  not_anonymous: { status: 409, description: 'this session belongs to an account already' },
  session_not_found: { status: 404, description: 'there is no such session' },
  invalid_cursor: {
    status: 400,
    description: 'this cursor is not of this list with these filters: begin at its first page',
  },
  invalid_limit: { status: 400, description: 'limit must be a whole number from 1 to 500' },
  invalid_password: { status: 400, description: 'the password does not fit the policy' },
  invalid_settings: { status: 400, description: 'the settings are not valid' },
  invalid_role: { status: 400, description: 'the role is not valid' },
  role_in_use: { status: 409, description: 'users hold this role: revoke it from them first' },
  role_not_defined: { status: 404, description: 'there is no such role' },
  vault_full: { status: 409, description: 'the vault is full: remove unused secrets, or store large values elsewhere' },
  invalid_secret: { status: 400, description: 'the secret is not valid' },
  template_not_found: { status: 404, description: 'there is no such template' },
  invalid_template: { status: 422, description: 'the template is not valid' },
  too_many_templates: { status: 409, description: 'no more templates can be declared: remove unused ones' },
  invalid_message: { status: 422, description: 'the message is not valid' },
  sender_not_configured: { status: 409, description: 'nothing can be sent: set "mail" in the settings first' },
  sender_failed: { status: 502, description: 'the sender did not take the message' },
  provider_not_found: { status: 404, description: 'there is no such provider' },
  provider_disabled: { status: 403, description: 'this way to sign in is switched off here' },
  invalid_provider_config: { status: 400, description: 'the configuration of the provider is not valid' },
  invalid_provider_credential: { status: 400, description: 'the credential is not valid' },
  invalid_private_key: { status: 400, description: 'the private key is not valid' },
  credential_in_use: { status: 409, description: 'the credential is in use' },
  too_many_credentials: { status: 409, description: 'the provider has too many credentials: remove unused ones' },
  attestation_refused: { status: 422, description: 'the attestation was not accepted' },
  attestation_unavailable: { status: 400, description: 'devices of this application cannot be attested here' },
  device_key_taken: { status: 409, description: 'this key belongs to a device of another account: make a new one' },
  device_not_found: { status: 404, description: 'there is no such device' },
  too_many_keys: {
    status: 409,
    description: 'ten service-role keys are accepted: end the previous ones with "overlap_seconds": 0',
  },
  sealing_key_missing: {
    status: 409,
    description: 'something does not open: bind the key that sealed it as SEALING_KEY_PREVIOUS',
  },
  delivery_not_found: { status: 404, description: 'there is no such delivery' },
  user_not_found: { status: 404, description: 'there is no such user' },
} as const satisfies Record<string, { status: number; description: string }>

export type AuthErrorCode = keyof typeof authErrors

/** @returns the error to throw. To keep what the transactions wrote beside the refusal, return it instead (contract 2.3). */
export function authError(
  code: AuthErrorCode,
  description: string = authErrors[code].description,
  details: HttpError['details'] = {},
): HttpError {
  return new HttpError(authErrors[code].status, code, description, details)
}

/** @returns the error of a value that its schema cannot refuse, because the fault shows only beside other values. */
export function invalidRequest(path: string, reason: string): HttpError {
  const description = `the request is not valid: ${path}: ${reason}`
  return new HttpError(400, 'invalid_request', description, { fields: [{ path, reason }] })
}
