/** Projects whose emitted documents are the subject of a test. */
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import path from 'node:path'
import { packageRoot } from './command.ts'
import { buildProject, linkPackages, temporaryFolder, temporaryProject } from './project.ts'

/** Builds a project with one controller, which can import the packages of this repository. */
export async function evaluatedProject(body: string, imports = '', files: Record<string, string> = {}) {
  const source = `import { Body, Controller, Get, Header, Module, Param, Post, Query } from '@stack/backend'
${imports}
@Controller('/a', { auth: false }) export class A {
  ${body}
}
@Module({ controllers: [A] }) export class AppModule {}
`
  const root = temporaryProject({ 'src/app.module.ts': source, ...files })
  linkPackages(root)
  const result = await buildProject(root)
  const found = result.refusals.map(({ slug, message, place }) => ({
    slug,
    message,
    at: (files[place.file] ?? source).slice(place.start, place.end),
    file: place.file,
  }))
  const document = result.built ? JSON.parse(emittedOf(root, 'openapi.json')) : undefined
  return { root, result, found, document }
}

/** @returns the text of a file that the build wrote into `.stack`. */
export const emittedOf = (root: string, name: string) => fs.readFileSync(path.join(root, '.stack', name), 'utf8')

/** @returns the schema of the body of `POST /a` in an OpenAPI document. */
export const bodyOf = (document: {
  paths: Record<string, Record<string, { requestBody: { content: Record<string, { schema: unknown }> } }>>
}) => document.paths['/a']!['post']!.requestBody.content['application/json']!.schema

export const tsc = path.join(packageRoot, 'node_modules/typescript/bin/tsc')

/**
 * Type checks a frontend that uses the emitted client. It has no packages, and none of the project's own options.
 * @returns what TypeScript prints: nothing where the frontend is sound.
 */
export function frontendErrors(root: string, use: string, options: Record<string, unknown> = {}): string {
  const folder = temporaryFolder()
  for (const name of ['client.d.ts', 'client.js'])
    fs.copyFileSync(path.join(root, '.stack', name), path.join(folder, name))
  const source = `import { createClient, ClientError, type Client } from './client.js'
const client: Client = createClient('http://127.0.0.1', { token: async () => undefined })
void ClientError
export async function use() {
${use}
}
`
  const compilerOptions = {
    target: 'es2022',
    lib: ['dom', 'es2022'],
    types: [],
    strict: true,
    noEmit: true,
    ...options,
  }
  fs.writeFileSync(path.join(folder, 'use.ts'), source)
  fs.writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }')
  fs.writeFileSync(
    path.join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['use.ts', 'client.d.ts'] }),
  )
  return spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' }).stdout
}
