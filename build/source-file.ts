/** One source file as plain data. project.ts, classes.ts, results.ts, scan.ts and expression.ts make it from the syntax tree. */
import type { ts as TS } from 'ts-morph'
import type { Span, Unfit } from './declaration.ts'
import type { Expression } from './expression.ts'

export interface SourceFile {
  /** Relative to the project, with `/`. */
  path: string
  /** Offsets at which the lines begin. The first is 0. */
  lineStarts: readonly number[]
  /** Classes at the top of the file. */
  classes: ClassSyntax[]
  /** Local name → the module it is imported from. The name of a namespace import is `*`. */
  imports: Map<string, { from: string; name: string; isTypeOnly?: boolean }>
  /** Offset at which a further import declaration may stand. */
  importsEnd: number
  /** `import { … }` of values, with the offset at which its last name ends. */
  namedImports: { from: string; lastName: number }[]
  /** Every import and re-export of values. `names` holds the local names of an import and is absent where there is none. */
  needs: { from: string; place: Span; names?: string[] }[]
  /** Exported name → the local name, or the name in another file. */
  exports: Map<string, ({ local: string } | { from: string; name: string }) & { isTypeOnly?: boolean }>
  /** Specifiers of `export * from`. */
  stars: string[]
  /** `const` declarations and enums at the top of the file. No other declaration has a value that is known at build. */
  constants: Map<string, Expression>
  /** Every other name that the top of the file declares. */
  declared: Set<string>
  /** Type aliases and interfaces, with the names that occur in them. */
  types: Map<string, string[]>
  /** Every decorator of the file. */
  decorators: DecoratorSyntax[]
  /** The decorators that declare something: on a class at the top of the file, its methods, and their parameters. */
  placed: Set<DecoratorSyntax>
  /** Imported names that are used as values, decorators aside. */
  uses: Expression[]
  earlyCalls: EarlyCallSyntax[]
  /** `import('@stack/backend')` */
  wholeImports: { text: string; place: Span }[]
  /** `eval(…)` and `new Function(…)` */
  evals: { text: string; place: Span }[]
  /** Syntax errors. */
  errors: { message: string; place: Span }[]
  /** Why the file could not be read. Nothing else is known of it then. */
  failure: { reason: string; isOfSystem: boolean } | undefined
}

/**
 * A call, a construction or a tagged template that stands at module scope, or in a constructor or property initializer. It runs
 * outside the scope of a request, except where a handler constructs the instance itself.
 */
interface EarlyCallSyntax {
  callee: Expression
  isNew: boolean
  /** The class whose instance is being built. Absent at module scope. */
  className: string | undefined
  place: Span
}

export interface DecoratorSyntax {
  callee: Expression
  isCalled: boolean
  arguments: Expression[]
  place: Span
  /** The decorator is the first token of a class member: blanking it must leave a `;` behind. */
  onMember: boolean
}

export interface ParameterSyntax {
  name: string
  place: Span
  /** The type's name where the type is a plain reference: `Orders`, or `orders.Orders`. */
  typeName: string | undefined
  /** The text of the type. Empty where no type is written. */
  type: string
  typePlace: Span
  /** Every name in the type, keywords like `string` and `null` included. */
  typeNames: string[]
  /** The parameter has a default or a question mark, so the container need not provide it. */
  isOptional: boolean
  decorators: DecoratorSyntax[]
}

/** The result of a method, as far as its text tells. */
export interface ResultSyntax {
  place: Span
  /** The declared type in backticks, or a description of the returned value. */
  text: string
  /** Every name in the declared type. Absent where `text` describes a returned value. */
  typeNames: string[] | undefined
}

export interface MemberSyntax {
  name: string
  place: Span
  line: number
  unfit: Unfit | undefined
  decorators: DecoratorSyntax[]
  parameters: ParameterSyntax[]
  result: ResultSyntax | undefined
}

export interface ClassSyntax {
  /** Undefined for `export default class {}`. */
  name: string | undefined
  place: Span
  line: number
  /** Offset of `class`, or of `abstract class`. */
  keyword: number
  /** Offset of `export`, or of `class` where the class is not exported. */
  start: number
  /** The keyword `default` and the blanks after it. */
  defaultKeyword: Span | undefined
  isAbstract: boolean
  /** The class has a static member `~standard`, so it is a Standard Schema itself. */
  isSchema: boolean
  /** The interfaces after `implements` that have a plain name: `Orders`, or `orders.Orders`. */
  implemented: string[]
  /** The expression after `extends`. */
  base: Expression | undefined
  decorators: DecoratorSyntax[]
  /** Undefined where the class has no constructor of its own. */
  constructorParameters: ParameterSyntax[] | undefined
  /** Members that carry a decorator, or whose parameters do. */
  members: MemberSyntax[]
  /** Names of all members that have a body or a value. A later member replaces an earlier one of the same name. */
  memberNames: string[]
}

/** The data that the readers of one file share while its syntax tree exists. */
export interface Reader {
  tree: TS.SourceFile
  file: SourceFile
  at(node: TS.Node): Span
  /** The text of a node on one line, shortened. */
  written(node: TS.Node): string
  readExpression(node: TS.Expression): Expression
  /** The line on which a span begins, counted from 1. */
  lineOf(place: Span): number
}

/** A file that declares nothing. */
export function emptyFile(path: string, lineStarts: readonly number[]): SourceFile {
  return {
    path,
    lineStarts,
    classes: [],
    imports: new Map(),
    importsEnd: 0,
    namedImports: [],
    needs: [],
    exports: new Map(),
    stars: [],
    constants: new Map(),
    declared: new Set(),
    types: new Map(),
    decorators: [],
    placed: new Set(),
    uses: [],
    earlyCalls: [],
    wholeImports: [],
    evals: [],
    errors: [],
    failure: undefined,
  }
}
