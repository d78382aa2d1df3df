/** 1.3 the JSON schema of `stack/project.json`, which editors read, admits and refuses what the reader does. */
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { InvalidDeclaration, readProject } from '../../src/wire/project.ts'

const file = path.resolve(import.meta.dirname, '../../docs/project.schema.json')
const schema = z.fromJSONSchema(JSON.parse(fs.readFileSync(file, 'utf8')))

function isRead(document: unknown): boolean {
  try {
    readProject(document)
    return true
  } catch (error) {
    if (!(error instanceof InvalidDeclaration)) throw error
    return false
  }
}

const target = { application_key: 'shop', variant: 'release' }
const environment = { ref: 'k3v9x0tqm', url: 'https://shop.example' }

describe('1.3', () => {
  it.each([
    ['a name alone', { project: 'shop' }],
    [
      'every key',
      {
        $schema: 'x',
        project: 'shop',
        entry: 'src/app.module.ts',
        bundle_budget_kib: 1,
        environments: { staging: environment },
        oauth: { web: target, ios: { ...target, client_keys: { google: 'a' } }, client_keys: { provider_a: 'web' } },
      },
    ],
  ])('admits %s', (_what, document) => {
    expect([isRead(document), schema.safeParse(document).success]).toEqual([true, true])
  })

  it.each([
    ['no name', {}],
    ['an unknown key', { project: 'shop', entri: 'x' }],
    ['a name in capitals', { project: 'Shop' }],
    ['a budget of 0', { project: 'shop', bundle_budget_kib: 0 }],
    ['a ref of another form', { project: 'shop', environments: { x: { ...environment, ref: 'short' } } }],
    ['an environment without a URL', { project: 'shop', environments: { x: { ref: 'k3v9x0tqm' } } }],
    ['an unknown platform', { project: 'shop', oauth: { wbe: target } }],
    ['no variant', { project: 'shop', oauth: { web: { application_key: 'shop' } } }],
    ['an unknown provider', { project: 'shop', oauth: { client_keys: { phone: 'web' } } }],
    ['a client key of another form', { project: 'shop', oauth: { client_keys: { google: 'A B' } } }],
  ])('refuses %s', (_what, document) => {
    expect([isRead(document), schema.safeParse(document).success]).toEqual([false, false])
  })
})
