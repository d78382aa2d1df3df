/** What is piped into a command. */
import { Failure } from './failure.ts'

/** @param most bytes. @throws Failure for more bytes, and for bytes that are not UTF-8. */
export async function standardInput(most: number): Promise<string> {
  if (process.stdin.isTTY) process.stderr.write('reading standard input: Ctrl-D ends it\n')
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > most) throw new Failure('usage', `standard input has more than ${most} bytes`)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks))
  } catch {
    throw new Failure('usage', 'the value is not UTF-8 text: encode it first, as base64 for example')
  }
}
