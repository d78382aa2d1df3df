/** Hostile variants whose body is not the signed one. */
import { type Base, bytesOf, isForm, sentAs, type Variant } from './base.ts'

export function hostileBodies(base: Base): Variant[] {
  const { body } = base.claim
  const flipped = (at: number) => body.map((byte, index) => (index === at ? byte ^ 1 : byte))
  const raw = (...bytes: number[]) => bytesOf(body, isForm(base.sender) ? '&Raw=' : '', new Uint8Array(bytes))
  const bom = bytesOf('\ufeff')
  const text = Buffer.from(body).toString()
  const changed: [string, Uint8Array][] = [
    ['the first byte changed', flipped(0)],
    ['a byte in the middle changed', flipped(body.length >> 1)],
    ['the last byte changed', flipped(body.length - 1)],
    ['a line feed added', bytesOf(body, '\n')],
    ['a zero byte added', bytesOf(body, '\0')],
    ['a blank before', bytesOf(' ', body)],
    ['the first byte removed', body.subarray(1)],
    ['the last byte removed', body.subarray(0, -1)],
    ['the body removed', new Uint8Array()],
    ['the body twice', bytesOf(body, body)],
    ['a byte order mark added', bytesOf(bom, body)],
    ['CRLF instead of LF', bytesOf(text.replaceAll(/(?<!\r)\n/g, '\r\n').replaceAll('%0A', '%0D%0A'))],
    ['LF instead of CRLF', bytesOf(text.replaceAll('\r\n', '\n'))],
    ['another normal form of the text', bytesOf(text.normalize('NFD'))],
    ['the same JSON, written otherwise', bytesOf(text.replaceAll(/\n */g, ' '))],
  ]
  return [
    ...changed
      .filter(([, sent]) => !Buffer.from(sent).equals(body))
      .map(([what, sent]): Variant => [what, sentAs(base, sent)]),
    ['a byte order mark removed', sentAs(base, body, bytesOf(bom, body))],
    // A decoder replaces bytes that are no text by U+FFFD.
    ['FE changed to FF', sentAs(base, raw(0xff), raw(0xfe))],
    ['FF where U+FFFD was signed', sentAs(base, raw(0xff), raw(0xef, 0xbf, 0xbd))],
  ]
}
