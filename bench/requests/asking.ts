/** Makes a request as the bytes that are sent. @param json the body. */
export function request(method: 'GET' | 'POST', path: string, token?: string, json?: string): Buffer[] {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    'accept: application/json',
    ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
    ...(json === undefined ? [] : ['content-type: application/json', `content-length: ${Buffer.byteLength(json)}`]),
  ]
  return [Buffer.from(`${lines.join('\r\n')}\r\n\r\n${json ?? ''}`)]
}
