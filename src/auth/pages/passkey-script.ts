/**
 * The module of the passkey page. It asks for the options, lets the browser ask for the passkey, and goes where the stack says. It sees
 * no token. The conversions are its own, because Safari has `toJSON` and `parseRequestOptionsFromJSON` since 2025 alone.
 */
export const passkeyScript = `
const root = document.getElementById('passkey')
const button = root.querySelector('button')
const fault = root.querySelector('[role=alert]')
const { base, redirectTo, codeChallenge, state } = root.dataset
const label = button.textContent

const bytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0))
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')

async function post(path, body) {
  const response = await fetch(base + path, {
    method: 'POST',
    headers: body ? { 'content-type': 'application/json' } : {},
    ...(body ? { body: JSON.stringify(body) } : {}),
  }).catch(() => { throw new Error('The connection failed. Try again.') })
  const answer = await response.json().catch(() => ({}))
  if (response.ok) return answer
  const { error_description: reason = 'it did not work, try again' } = answer
  throw new Error(reason[0].toUpperCase() + reason.slice(1) + '.')
}

async function signIn() {
  const { challenge_id, options } = await post('/auth/sign-in/passkey/options')
  const publicKey = {
    ...options,
    challenge: bytes(options.challenge),
    allowCredentials: options.allowCredentials.map((one) => ({ ...one, id: bytes(one.id) })),
  }
  const { id, rawId, type, response } = await navigator.credentials.get({ publicKey })
  const { location } = await post('/auth/sign-in/passkey/hand-off', {
    challenge_id,
    response: {
      id,
      rawId: text(rawId),
      type,
      response: {
        clientDataJSON: text(response.clientDataJSON),
        authenticatorData: text(response.authenticatorData),
        signature: text(response.signature),
        userHandle: response.userHandle ? text(response.userHandle) : null,
      },
    },
    redirect_to: redirectTo,
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
    ...(state === undefined ? {} : { state }),
  })
  window.location.replace(location)
}

function reasonOf({ name, message }) {
  if (name === 'NotAllowedError' || name === 'AbortError') return 'No passkey was used. Try again.'
  if (name === 'SecurityError') return 'Passkeys do not work at this address.'
  return message
}

let isBusy = false
button.addEventListener('click', async () => {
  if (isBusy) return
  isBusy = true
  fault.textContent = ''
  button.textContent = 'Waiting for your passkey'
  button.setAttribute('aria-disabled', 'true')
  try {
    await signIn()
  } catch (error) {
    fault.textContent = reasonOf(error)
    button.textContent = label
    button.removeAttribute('aria-disabled')
    isBusy = false
  }
})

if (window.PublicKeyCredential) button.hidden = false
else fault.textContent = 'This browser cannot use passkeys. Open the page in another one.'
`
