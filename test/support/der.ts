/** Writes DER, right or wrong, for certificates that a test makes. */

const length = (count: number) =>
  count < 0x80
    ? [count]
    : count < 0x100
      ? [0x81, count]
      : count < 0x1_0000
        ? [0x82, count >> 8, count & 255]
        : [0x83, count >> 16, (count >> 8) & 255, count & 255]

/** @param tag the identifier octet, or several of them. */
export function element(tag: number | number[], ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([
    Buffer.from(typeof tag === 'number' ? [tag] : tag),
    Buffer.from(length(content.length)),
    content,
  ])
}

export const sequence = (...parts: Uint8Array[]) => element(0x30, ...parts)
export const set = (...parts: Uint8Array[]) => element(0x31, ...parts.sort(Buffer.compare))
export const octets = (content: Uint8Array) => element(0x04, content)
export const bits = (content: Uint8Array, unused = 0) => element(0x03, Buffer.from([unused]), content)
export const boolean = (value: boolean | number) =>
  element(0x01, Buffer.from([typeof value === 'number' ? value : value ? 0xff : 0]))
export const nothing = () => element(0x05)
export const utf8 = (text: string) => element(0x0c, Buffer.from(text))

export function integer(value: number | Uint8Array, tag = 0x02): Buffer {
  if (typeof value !== 'number') return element(tag, value)
  let hex = value.toString(16)
  if (hex.length % 2) hex = `0${hex}`
  if (Number.parseInt(hex.slice(0, 2), 16) >= 0x80) hex = `00${hex}`
  return element(tag, Buffer.from(hex, 'hex'))
}
export const enumerated = (value: number) => integer(value, 0x0a)

/** An element within an explicit tag of the context-specific class. */
export function tagged(number: number, inner: Uint8Array): Buffer {
  if (number < 31) return element(0xa0 | number, inner)
  const septets = number < 128 ? [number] : [0x80 | (number >> 7), number & 127]
  return element([0xbf, ...septets], inner)
}

export function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number)
  const octets = [first * 40 + second, ...rest].flatMap((arc) => {
    const septets = [arc % 128]
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) septets.unshift(0x80 | (left % 128))
    return septets
  })
  return element(0x06, Buffer.from(octets))
}

export const time = (date: Date) =>
  element(0x18, Buffer.from(`${date.toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`))
