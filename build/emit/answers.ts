/**
 * What handlers give back, as JSON Schema: their types as the type checker knows them, after JSON.stringify. The program is
 * made of the text that was judged; libraries and packages are parsed once for as long as the compiler lives.
 */
import * as fs from 'node:fs'
import path from 'node:path'
import type { ts as TS } from 'ts-morph'
import { sdkName } from '../declaration.ts'
import type { Linked } from '../link/index.ts'
import type { Program } from '../program.ts'
import { projectConfiguration } from '../tsconfig.ts'
import { libraryFiles, libraryFolder, ts } from '../typescript.ts'
import type { Json } from './json-schemas.ts'
import { createJsonTypes, type JsonTypes } from './json-types.ts'
import { roleNames } from './role-names.ts'

interface Answer {
  /** JSON Schema of the result; `{}` where its type says nothing, absent where there is none. */
  schema?: Json
  /** The handler may give `undefined`, which is answered 204. */
  isOptional: boolean
  /** What of its type JSON Schema cannot say. */
  unsaid: string[]
}

export interface HandlerTypes {
  /** By route. */
  answers: Answer[]
  /** Declared types of the handlers' body parameters that have no schema, by route. */
  bodies: (Json | undefined)[]
  /** What schemas take that are evaluated without an answer, by schema: their type may know. */
  inputs: (Json | undefined)[]
  /** Named types that the others refer to, by name. */
  definitions: Record<string, Json>
  /** Sources and declarations that decided this, beside those of installed packages, absolute. */
  files: string[]
}

export interface TypeReader {
  /** @param asked which schemas' inputs are wanted, by index. @param taken names that definitions cannot have. */
  read(linked: Linked, asked: ReadonlySet<number>, taken: readonly string[]): HandlerTypes
}

/** @param roles names of the declared roles: `roles.d.ts` on the disk is that of an earlier build. */
export function createTypeReader(program: Program, packageRoot: string, roles: readonly string[]): TypeReader {
  const { root, sources } = program
  const parsed = new Map<string, { version: string; file: TS.SourceFile }>()
  const generated = path.join(root, '.stack') + path.sep
  const rolesFile = path.join(generated, 'roles.d.ts')
  const sdk = [path.join(packageRoot, 'src/sdk/index.ts'), path.join(packageRoot, 'types/src/sdk/index.d.ts')].find(
    (file) => fs.existsSync(file),
  )

  function open(linked: Linked): TS.Program {
    const { options, ambient } = projectConfiguration(root)
    const host = hostOf(options)
    const used = new Set(linked.table.routes.map(({ controller }) => linked.classes[controller]!.file))
    const declared = ambient.filter((file) => !file.startsWith(generated))
    const roots = [...[...used].sort().map((file) => path.join(root, file)), ...declared, rolesFile]
    return ts.createProgram(roots, options, host)
  }

  function hostOf(options: TS.CompilerOptions): TS.CompilerHost {
    const resolutions = ts.createModuleResolutionCache(root, (name) => name, options)
    return {
      fileExists: (file) => file === rolesFile || file.startsWith(libraryFolder) || ts.sys.fileExists(file),
      readFile: (file) => ts.sys.readFile(file),
      directoryExists: (folder) => ts.sys.directoryExists(folder),
      getDirectories: (folder) => ts.sys.getDirectories(folder),
      realpath: (file) => ts.sys.realpath?.(file) ?? file,
      getCurrentDirectory: () => root,
      getDefaultLibFileName: (given) => `${libraryFolder}/${ts.getDefaultLibFileName(given)}`,
      getDefaultLibLocation: () => libraryFolder,
      getCanonicalFileName: (file) => file,
      useCaseSensitiveFileNames: () => true,
      getNewLine: () => '\n',
      writeFile() {},
      getSourceFile: sourceFile,
      resolveModuleNameLiterals: (literals, containing, redirected, given) =>
        literals.map(({ text }) => {
          if (text === sdkName && sdk)
            return { resolvedModule: { resolvedFileName: sdk, extension: path.extname(sdk) } }
          return ts.resolveModuleName(text, containing, given, ts.sys, resolutions, redirected)
        }),
    }
  }

  function sourceFile(file: string, options: TS.ScriptTarget | TS.CreateSourceFileOptions): TS.SourceFile | undefined {
    const text = textOf(file)
    if (text === undefined) return undefined
    const before = parsed.get(file)
    if (before && before.version === text.version) return before.file
    const given = typeof options === 'object' ? options : { languageVersion: options }
    const made = ts.createSourceFile(file, text.read(), { ...given, jsDocParsingMode: ts.JSDocParsingMode.ParseNone })
    parsed.set(file, { version: text.version, file: made })
    return made
  }

  function textOf(file: string): { version: string; read: () => string } | undefined {
    if (file === rolesFile) return { version: 'roles', read: () => roleNames(roles) }
    if (file.startsWith(libraryFolder)) {
      const text = libraryFiles().get(path.posix.basename(file))
      return text === undefined ? undefined : { version: 'library', read: () => text }
    }
    if (sources.isRead(file)) {
      const text = sources.textOf(file)
      return { version: text, read: () => text }
    }
    const found = fs.statSync(file, { throwIfNoEntry: false })
    return found && { version: `${found.mtimeMs} ${found.size}`, read: () => fs.readFileSync(file, 'utf8') }
  }

  return {
    read(linked, asked, taken) {
      const opened = open(linked)
      const checker = opened.getTypeChecker()
      const types = createJsonTypes(opened, checker, taken)
      const { routes } = linked.table
      const methods = routes.map(({ controller, handler }) =>
        signatureOf(opened, checker, root, linked.classes[controller]!, handler),
      )
      return {
        answers: methods.map((signature) => answerOf(signature, checker, types)),
        bodies: routes.map(({ parameters }, index) => {
          const body = parameters.findIndex((one) => one.from === 'body' && one.schema === undefined)
          const declared = body === -1 ? undefined : methods[index]?.getParameters()[body]
          return declared && types.of(checker.getTypeOfSymbol(declared)).schema
        }),
        inputs: linked.schemas.map(({ place }, index) => {
          if (!asked.has(index)) return undefined
          const file = opened.getSourceFile(path.join(root, place.file))
          const node = file && nodeAt(file, place)
          const input = node && inputOf(checker.getTypeAtLocation(node), checker)
          return input && types.of(input).schema
        }),
        definitions: types.definitions,
        files: opened
          .getSourceFiles()
          .map(({ fileName }) => fileName)
          .filter((file) => file !== rolesFile && !file.includes('/node_modules/')),
      }
    },
  }
}

function signatureOf(
  program: TS.Program,
  checker: TS.TypeChecker,
  root: string,
  { file, name }: Linked['classes'][number],
  handler: string,
): TS.Signature | undefined {
  const declaration = program
    .getSourceFile(path.join(root, file))
    ?.statements.find((one): one is TS.ClassDeclaration => ts.isClassDeclaration(one) && one.name?.text === name)
  const symbol = declaration?.name && checker.getSymbolAtLocation(declaration.name)
  const method = symbol && checker.getPropertyOfType(checker.getDeclaredTypeOfSymbol(symbol), handler)
  return method && checker.getTypeOfSymbol(method).getCallSignatures().at(-1)
}

function answerOf(signature: TS.Signature | undefined, checker: TS.TypeChecker, types: JsonTypes): Answer {
  const result = signature && checker.getAwaitedType(signature.getReturnType())
  return result ? types.of(result) : { schema: {}, isOptional: false, unsaid: [] }
}

/** `StandardSchema`'s `types.input`. */
function inputOf(schema: TS.Type, checker: TS.TypeChecker): TS.Type | undefined {
  let type: TS.Type | undefined = schema
  for (const name of ['~standard', 'types', 'input']) {
    const member: TS.Symbol | undefined = type && checker.getPropertyOfType(checker.getNonNullableType(type), name)
    type = member && checker.getTypeOfSymbol(member)
  }
  return type
}

function nodeAt(file: TS.SourceFile, { start, end }: { start: number; end: number }): TS.Node | undefined {
  const find = (node: TS.Node): TS.Node | undefined => {
    if (node.getStart(file) === start && node.end === end && ts.isExpression(node)) return node
    return node.pos <= start && node.end >= end ? ts.forEachChild(node, find) : undefined
  }
  return ts.forEachChild(file, find)
}
