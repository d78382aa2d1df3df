/** The documentation of the SDK: every export has one, and every example in it compiles. */
import * as fs from 'node:fs'
import path from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')
const index = path.join(root, 'src/sdk/index.ts')
/** The SDK's files, and the one file outside of it that the index takes an export from. */
const documented = [
  ...fs.readdirSync(path.join(root, 'src/sdk')).map((name) => `src/sdk/${name}`),
  'src/wire/webhook-schemes.ts',
]

interface Example {
  /** `src/sdk/routes.ts:85` */
  place: string
  code: string
}

/** TypeScript takes a decorator at the start of a line for a tag of the comment, so examples are read from the text. */
function examplesOf(file: string): Example[] {
  const text = fs.readFileSync(path.join(root, file), 'utf8')
  return [...text.matchAll(/\/\*\*[\s\S]*?\*\//g)].flatMap((comment) =>
    [...comment[0].matchAll(/@example\n\s*\* ```ts\n([\s\S]*?)\n\s*\* ```/g)].map((example) => ({
      place: `${file}:${text.slice(0, comment.index + example.index).split('\n').length}`,
      code: example[1]!.replaceAll(/^\s*\* ?/gm, ''),
    })),
  )
}

const examples = documented.flatMap(examplesOf)

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2024,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  lib: ['lib.es2024.d.ts', 'lib.esnext.disposable.d.ts'],
  types: ['@cloudflare/workers-types'],
  strict: true,
  noUncheckedIndexedAccess: true,
  experimentalDecorators: true,
  allowImportingTsExtensions: true,
  noEmit: true,
  skipLibCheck: true,
}

/** The roles that examples name, as `.stack/roles.d.ts` declares those of a project. */
const roles = `import '@stack/backend'
declare module '@stack/backend' { interface StackRoles { staff: true } }`

/** An example imports everything of the SDK that it does not declare itself. */
function sourceOf({ code }: Example, exported: readonly string[]): string {
  const names = exported.filter(
    (name) => !new RegExp(`\\b(?:class|const|interface|type|function) ${name}\\b`).test(code),
  )
  return `import { ${names.join(', ')} } from '@stack/backend'\n${code}\nexport {}\n`
}

describe('the documentation of the SDK', () => {
  const folder = path.join(root, 'test/sdk/examples')
  const sdk = ts.createProgram([index], options)
  const checker = sdk.getTypeChecker()
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(sdk.getSourceFile(index)!)!)
  const declarationOf = (symbol: ts.Symbol): ts.Symbol =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  const textOf = (symbol: ts.Symbol) => ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim()

  it('compiles in every example', () => {
    const names = exported.map(({ name }) => name)
    const sources = new Map(
      examples.map((example, number) => [path.join(folder, `${number}.ts`), sourceOf(example, names)] as const),
    )
    sources.set(path.join(folder, 'roles.ts'), roles)
    const host = ts.createCompilerHost(options)
    const { fileExists, getSourceFile } = host
    host.fileExists = (name) => sources.has(path.normalize(name)) || fileExists(name)
    host.getSourceFile = (name, version, ...others) => {
      const source = sources.get(path.normalize(name))
      return source === undefined
        ? getSourceFile(name, version, ...others)
        : ts.createSourceFile(name, source, version, true)
    }
    const files = [...sources.keys(), path.join(root, 'src/workers.d.ts')]
    const program = ts.createProgram(files, options, host)
    const found = files.flatMap((name, number) => {
      const file = program.getSourceFile(name)!
      const wrong = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]
      return wrong.map(({ start = 0, messageText }) => {
        const line = file.text.slice(0, start).split('\n').length
        const place = examples[number]?.place ?? name
        const reason = ts.flattenDiagnosticMessageText(messageText, '\n  ')
        return `the example at ${place} does not compile: ${reason}\n  ${file.text.split('\n')[line - 1]!.trim()}`
      })
    })
    expect(found).toEqual([])
    expect(examples.length).toBeGreaterThan(50)
  })

  it('describes every export, and every member of it', () => {
    const silent = exported.flatMap((symbol) => {
      const target = declarationOf(symbol)
      const [declaration] = target.declarations ?? []
      const type =
        target.flags & ts.SymbolFlags.Variable
          ? checker.getTypeOfSymbol(target)
          : checker.getDeclaredTypeOfSymbol(target)
      const members = (type.isUnion() ? type.types : [type])
        .filter((one) => one.flags & ts.TypeFlags.Object)
        .flatMap((one) => one.getProperties())
        .filter(
          ({ declarations: [own] = [] }) =>
            own && documented.some((file) => own.getSourceFile().fileName.endsWith(file)),
        )
        .filter((member) => !(member.flags & ts.SymbolFlags.Prototype) && member.name !== 'name')
      // the fields of a block are documented on `SignatureSpec`
      const isBlock = symbol.name === 'standardWebhooks'
      return [
        ...(declaration && textOf(target) === '' ? [symbol.name] : []),
        ...(isBlock
          ? []
          : members.filter((member) => textOf(member) === '').map(({ name }) => `${symbol.name}.${name}`)),
      ]
    })
    expect([...new Set(silent)]).toEqual([])
  })

  it('shows an example of every decorator, service and error', () => {
    const isShown = (target: ts.Symbol) =>
      (target.declarations ?? []).some((declaration) => {
        const statement = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration
        const { text } = statement.getSourceFile()
        return text.slice(statement.getFullStart(), statement.getStart()).includes('@example')
      })
    const values = exported.map(declarationOf).filter(({ flags }) => flags & ts.SymbolFlags.Value)
    expect(values.filter((target) => !isShown(target)).map(({ name }) => name)).toEqual([])
    expect(values.length).toBeGreaterThan(25)
  })
})
