/** A JSON document that a command line gives: as text, as `@file`, or as `-` for standard input. */
import * as fs from 'node:fs'
import path from 'node:path'
import type { FieldError } from '../../src/wire/envelope.ts'
import { readStrictJson } from '../../src/wire/strict-json.ts'
import { Failure } from './failure.ts'
import { standardInput } from './standard-input.ts'
import { workingDirectory } from './working-directory.ts'

export interface Payload {
  /** As it was given: this is what is sent. */
  text: string
  /** Names the source in messages, like `google.json`. */
  source: string
}

/** Largest document in bytes. The largest one that a stack accepts is a template, with 256 KiB. */
const mostBytes = 1024 * 1024

/**
 * @param flag the flag, for messages. @param isSecret refuses a document on the command line, where other processes and the
 * history of the shell could read it. @throws Failure for text that is not valid JSON, before anything is sent.
 */
export async function readPayload(flag: string, given: string, isSecret = false): Promise<Payload> {
  const isText = given !== '-' && !given.startsWith('@')
  if (isSecret && isText)
    throw new Failure('usage', `a secret is read from a file or standard input alone: ${flag} @<file>, or ${flag} -`)
  const payload = isText
    ? { text: given, source: flag }
    : given === '-'
      ? { text: await standardInput(mostBytes), source: 'standard input' }
      : fromFile(flag, given.slice(1))
  const [fault] = readStrictJson(payload.text).faults.filter(({ kind }) => kind === 'syntax' || kind === 'nesting')
  if (!fault) return payload
  const { line, column, reason } = fault
  throw new Failure('usage', `${payload.source}:${line}:${column} is not valid JSON: ${reason}. Nothing was sent`)
}

/**
 * Checks a document of a provider as the stack does (contract 9.5): without duplicate keys and nulls, and by its fields.
 *
 * @throws Failure with each fault on a line of its own.
 */
export function requireStrict({ text, source }: Payload, check: (json: unknown) => FieldError[]): void {
  const { value, faults, placeOf } = readStrictJson(text, { hasNull: false })
  const found = faults.map(({ line, column, reason }) => ({ line, column, reason }))
  const known = new Set(faults.map(({ path }) => path.join('.')))
  for (const { path, reason } of value === undefined ? [] : check(value)) {
    if (!known.has(path)) found.push({ ...placeOf(stepsOf(path)), reason })
  }
  if (found.length === 0) return
  found.sort((one, other) => one.line - other.line || one.column - other.column)
  const lines = found.map(({ line, column, reason }) => `${source}:${line}:${column} ${reason}`)
  throw new Failure('usage', `${lines.join('\n')}\nnothing was sent`)
}

/** The keys and indices of a fault's path, which is joined by dots. No field of these documents has a dot in its name. */
function stepsOf(path: string): (string | number)[] {
  if (path === 'body') return []
  return path.split('.').map((step) => (/^\d+$/.test(step) ? Number(step) : step))
}

function fromFile(flag: string, name: string): Payload {
  if (name === '') throw new Failure('usage', `the name of the file is missing: ${flag} @<file>`)
  try {
    const file = path.resolve(workingDirectory(), name)
    const { size } = fs.statSync(file)
    if (size > mostBytes) throw new Error(`it has ${size} bytes, and ${mostBytes} is the most`)
    return {
      text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(fs.readFileSync(file)),
      source: name,
    }
  } catch (error) {
    throw new Failure('usage', `${name} cannot be read: ${(error as Error).message}`)
  }
}
