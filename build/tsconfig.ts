/** Reads tsconfig.json: how imports resolve, the options of the type checker, and the options about decorators. */
import * as fs from 'node:fs'
import path from 'node:path'
import type { ts as TS } from 'ts-morph'
import type { Span, Tsconfig } from './declaration.ts'
import { ts } from './typescript.ts'

const name = 'tsconfig.json'

/** The options that decide how imports resolve. */
export function compilerOptions(root: string): TS.CompilerOptions {
  const fallback: TS.CompilerOptions = {
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    customConditions: ['workerd', 'worker'], // The bundler uses the same conditions.
    allowImportingTsExtensions: true,
  }
  const { paths, baseUrl, pathsBasePath } = declaredOptions(root) ?? {}
  const kept = { paths, baseUrl, pathsBasePath }
  return { ...fallback, ...Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined)) }
}

/** The options for the project's types, and the project's declaration files. */
export function projectConfiguration(root: string): { options: TS.CompilerOptions; ambient: string[] } {
  const file = path.join(root, name)
  const fallback: TS.CompilerOptions = { ...compilerOptions(root), target: ts.ScriptTarget.ES2024, types: [] }
  const kept: TS.CompilerOptions = { strictNullChecks: true, noEmit: true, skipLibCheck: true }
  if (!fs.existsSync(file)) return { options: { ...fallback, ...kept }, ambient: [] }
  const { config } = ts.readConfigFile(file, ts.sys.readFile)
  const { options, fileNames } = ts.parseJsonConfigFileContent(config ?? {}, ts.sys, root)
  return { options: { ...options, ...kept }, ambient: fileNames.filter((one) => one.endsWith('.d.ts')) }
}

/** `undefined` where there is no tsconfig.json. */
export function readTsconfig(root: string): Tsconfig | undefined {
  const options = declaredOptions(root)
  if (!options) return undefined
  const tree = ts.readJsonConfigFile(path.join(root, name), ts.sys.readFile)
  const document = tree.statements[0]?.expression
  const at = (node: TS.Node): Span => ({ file: name, start: node.getStart(tree), end: node.end })
  const compiler = document && property(document, 'compilerOptions')
  const metadata = compiler && property(compiler.initializer, 'emitDecoratorMetadata')
  const decorators = compiler && property(compiler.initializer, 'experimentalDecorators')
  return {
    hasDecorators: options.experimentalDecorators === true,
    hasMetadata: options.emitDecoratorMetadata === true,
    options: compiler ? at(compiler.name) : { file: name, start: 0, end: Math.min(1, tree.text.length) },
    body:
      compiler && ts.isObjectLiteralExpression(compiler.initializer)
        ? { start: compiler.initializer.getStart(tree) + 1, isEmpty: compiler.initializer.properties.length === 0 }
        : undefined,
    decorators: decorators && at(decorators.initializer),
    metadata: metadata && at(metadata.initializer),
  }
}

interface DeclaredOptions extends TS.CompilerOptions {
  pathsBasePath?: string
}

function declaredOptions(root: string): DeclaredOptions | undefined {
  const file = path.join(root, name)
  if (!fs.existsSync(file)) return undefined
  const { config } = ts.readConfigFile(file, ts.sys.readFile)
  return ts.parseJsonConfigFileContent(config ?? {}, host, root).options
}

/** Lists no files, because only the options are needed. */
const host = { ...ts.sys, readDirectory: () => [] }

/** Absolute paths of tsconfig.json and of the files that it extends. */
export function configurations(root: string): string[] {
  const file = path.join(root, name)
  if (!fs.existsSync(file)) return []
  const tree = ts.readJsonConfigFile(file, ts.sys.readFile)
  ts.parseJsonSourceFileConfigFileContent(tree, host, root)
  return [file, ...(tree.extendedSourceFiles ?? [])].filter((one) => fs.existsSync(one))
}

function property(node: TS.Expression, key: string): TS.PropertyAssignment | undefined {
  if (!ts.isObjectLiteralExpression(node)) return undefined
  return node.properties.find(
    (one): one is TS.PropertyAssignment =>
      ts.isPropertyAssignment(one) && ts.isStringLiteral(one.name) && one.name.text === key,
  )
}
