/** Signs a person in with the providers that `stack link` wrote to stack/oauth/web.json. The tokens stay in this page's memory. */

const titles = { google: 'Google', apple: 'Apple', microsoft: 'Microsoft', github: 'GitHub' }

/** The address that a provider's sign-in comes back to. The client's `return_uris` must have it, character by character. */
const returnAddress = `${location.origin}/`

const say = (text) => {
  document.querySelector('#status').textContent = text
}

const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

/** The code in the address is worth nothing without the verifier, which never leaves this browser (RFC 7636). */
async function begin(snapshot, provider) {
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)))
  sessionStorage.setItem('verifier', verifier)
  const challenge = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  const query = new URLSearchParams({
    client_key: snapshot.providers[provider].client_key,
    redirect_to: returnAddress,
    code_challenge: base64url(challenge),
    code_challenge_method: 'S256',
  })
  location.assign(`${snapshot.base_url}/auth/oauth/${provider}/start?${query}`)
}

async function finish(code) {
  const code_verifier = sessionStorage.getItem('verifier')
  sessionStorage.removeItem('verifier')
  const response = await fetch('/auth/oauth/exchange', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code, code_verifier }),
  })
  const answer = await response.json()
  if (!response.ok) return say(`The sign-in failed: ${answer.error_description}`)
  if (!answer.access_token) return say('This account has a second factor, which this page does not ask for.')
  const orders = await fetch('/orders', { headers: { authorization: `Bearer ${answer.access_token}` } })
  say(`Signed in as ${answer.user.email}, with ${(await orders.json()).length} orders.`)
}

async function offer() {
  const response = await fetch('oauth.json')
  if (!response.ok) return say('There is no stack/oauth/web.json: run `stack link`.')
  const snapshot = await response.json()
  for (const [provider, { return_uris = [] }] of Object.entries(snapshot.providers)) {
    if (!return_uris.includes(returnAddress)) continue
    const button = document.createElement('button')
    button.textContent = `Continue with ${titles[provider] ?? provider}`
    button.addEventListener('click', () => begin(snapshot, provider))
    document.querySelector('#providers').append(button)
  }
  const isOffered = document.querySelector('button') !== null
  say(isOffered ? 'Choose how to sign in.' : `No client has ${returnAddress} among its return_uris.`)
}

const answered = new URLSearchParams(location.search)
// a reload must not send the code again
history.replaceState(null, '', '/')
const code = answered.get('code')
if (code !== null) await finish(code)
else if (answered.has('error')) say(`The sign-in failed: ${answered.get('error_description')}`)
else await offer()
