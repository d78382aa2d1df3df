/** Refusals of files, classes, decorators and their arguments. */
import { decoratorNames, type LostImport } from '../declaration.ts'
import { define, didYouMean } from './definition.ts'

type Lost = Pick<LostImport, 'kind' | 'alias' | 'relative'>

export const declarations = {
  'syntax-error': define<{ reason: string }>({
    summary: 'A file of the project does not parse',
    why: 'The bundler would stop at the same place, and the parser can only guess at the rest of the file. The build checks the rest once the file parses.',
    message: ({ reason }) => `this file does not parse: ${reason}`,
    fix: () => 'correct the syntax, and build again to check the rest of this file',
  }),
  'file-unreadable': define<{ reason: string; isOfSystem: boolean }>({
    summary: 'The build cannot read one file',
    why: 'The build does not know what this file declares, so a route or a rule of it would be missing. The build checks the other files all the same. It checks what they import from this file once it can read the file.',
    message: ({ reason, isOfSystem }) =>
      isOfSystem ? `this file cannot be opened: ${reason}` : `the build failed while it read this file: ${reason}`,
    fix: ({ isOfSystem }) =>
      isOfSystem
        ? 'give the user who builds permission to read the file, or move it out of the folder of the entry'
        : 'this is a defect of the build: report it with this file, and until then split the file or simplify its nesting',
  }),
  'import-lost': define<{ specifier: string; count: number } & Lost>({
    summary: 'An import leads to no file, or names a package that is not installed',
    why: 'The bundler could not bundle the project. The build does not know the classes and constants behind this import either, and would refuse code that depends on them for the wrong reason. It checks that code once the import is resolved.',
    message: ({ specifier, count, kind, alias }) => {
      const times = count > 1 ? ` (${count} imports)` : ''
      if (kind === 'package') return `the package "${specifier}" is not installed${times}`
      if (kind === 'builtin') return `the import "${specifier}" leads to no package${times}`
      if (kind === 'file') return `the import "${specifier}" leads to no file${times}`
      return `the import "${specifier}" leads to no file: tsconfig.json has no path "${alias!.pattern}"${times}`
    },
    fix: ({ specifier, kind, alias, relative }) => {
      if (kind === 'builtin') return `a module of Node has a prefix: write "node:${specifier}"`
      if (kind === 'alias') {
        const entry = `"paths": { "${alias!.pattern}": ["${alias!.target}"] }`
        return `add \`${entry}\` to the \`compilerOptions\` of tsconfig.json, or write "${relative}"`
      }
      if (kind === 'prefix') {
        const entry = `"paths": { "${alias!.pattern}": ["${alias!.target}"] }`
        return `set the path of these files in the \`compilerOptions\` of tsconfig.json, for example \`${entry}\``
      }
      if (kind === 'package') {
        return specifier.startsWith('@nestjs/')
          ? 'import the names that `@stack/backend` has from there, and remove the others'
          : `install the package with \`npm install ${specifier}\`, or remove the code that uses it`
      }
      return /^\.{1,2}(?:\/|$)/.test(specifier)
        ? 'correct the path'
        : 'correct the path, or declare the alias as `paths` in the `compilerOptions` of tsconfig.json'
    },
  }),
  'entry-without-module': define<{ entry: string; isMissing: boolean }>({
    summary: 'The entry is missing, or holds no class with @Module',
    why: 'The build begins at the root module: the classes that it and its imports list become the application. Without a root module the worker would serve no route and no webhook.',
    message: ({ entry, isMissing }) =>
      isMissing
        ? `the file ${entry} does not exist, and it must export the root module`
        : `${entry} holds no class with @Module of @stack/backend`,
    fix: () => 'declare the root module in that file: `@Module({ controllers: [] }) export class AppModule {}`',
  }),
  'entry-with-two-modules': define<{ entry: string }>({
    summary: 'The entry holds more than one class with @Module',
    why: 'The module in the entry is the root. With two, the build cannot tell which one is meant. The routes, the webhooks and the application default of the other one could be missing from the worker.',
    message: ({ entry }) =>
      `${entry} holds more than one class with @Module, so the build cannot tell which one is the root`,
    fix: () => 'move every module but the root into a file of its own',
  }),
  'default-export': define<{ name: string }>({
    summary: 'A class with @Module, @Controller, @Webhook or @Injectable is a default export',
    why: 'The generated entry imports classes by name, and a default export has no name. Modules follow the same rule, because refusals, the route table and the log name each class.',
    message: ({ name }) => `the class ${name} is a default export`,
    fix: ({ name }) => `export it by name: \`export class ${name === 'default' ? 'MyClass' : name}\``,
  }),
  'class-not-exported': define<{ name: string }>({
    summary: 'A decorated class, or one that a module provides, is not exported',
    why: 'The generated entry imports each class from its file and could not import this one, so the bundle would fail. A module is not constructed, but another file can only list it when it is exported.',
    message: ({ name }) => `the class ${name} is not exported`,
    fix: ({ name }) => `write \`export class ${name}\``,
  }),
  'class-abstract': define<{ name: string; role: string; isListed?: boolean }>({
    summary: 'An abstract class has a decorator of the SDK, or stands in the `providers` of a module',
    why: 'TypeScript erases `abstract`, so the container would construct the class all the same. A call of a member that only a subclass implements would end in 500. A module is never constructed, so the keyword would mean nothing there.',
    message: ({ name, role, isListed }) =>
      isListed
        ? `the class ${name} stands in \`providers\` and is abstract`
        : `the class ${name} has @${role} and is abstract`,
    fix: ({ name, role, isListed }) =>
      isListed
        ? `list \`{ provide: ${name}, useClass: … }\` with the class that extends it, or remove \`abstract\``
        : `remove \`abstract\`, or move @${role} to the class that extends it`,
  }),
  'class-with-two-roles': define<{ name: string; roles: string }>({
    summary: 'A class has more than one of @Module, @Controller and @Webhook',
    why: 'A module has one list for each kind of class, and serves a class as the kind of its list only. A controller that is also a webhook would serve its routes, and every delivery to it would get 404.',
    message: ({ name, roles }) => `the class ${name} has ${roles}, and a class can have only one of them`,
    fix: () => 'split the class, and keep one decorator on each part',
  }),
  'decorator-twice': define<{ name: string }>({
    summary: 'The same decorator stands twice on a class or a parameter',
    why: 'The build would read only the first one. A path, a name or a rule of the second one would have no effect, and no message would say so.',
    message: ({ name }) => `@${name} stands twice on the same class or parameter`,
    fix: () => 'remove one of them',
  }),
  'decorator-not-called': define<{ name: string; form: string }>({
    summary: 'A decorator stands without its parentheses',
    why: 'The arguments of a decorator are its declaration. Without a call, the decorator of a route would make no row of the route table, so its path would answer 404. Any other decorator would count as one without arguments.',
    message: ({ name }) => `@${name} has no parentheses, and it must be called`,
    fix: ({ form }) => `write \`${form}\``,
  }),
  'decorator-not-imported': define<{ name: string; near?: string | undefined; hint?: string | undefined }>({
    summary: 'A decorator is neither imported nor declared in its file',
    why: 'The build knows a decorator by its import, so it would neither read nor erase this one. Its declaration would be missing, and the worker would not start, because the name is not defined.',
    message: ({ name, near }) => `@${name} is not imported${didYouMean(near)}`,
    fix: ({ name, near, hint }) => {
      if (near) return `write \`@${near}\`, and import it from '@stack/backend'`
      if (hint) return hint
      return decoratorNames.has(name)
        ? `write \`import { ${name} } from '@stack/backend'\``
        : 'import it from the file that declares it, or remove it'
    },
  }),
  'decorator-as-value': define<{ name: string }>({
    summary: 'A decorator of the SDK is used as a value: in a variable, as an argument, or inside a function',
    why: 'The build reads a decorator on a class, a method or a parameter, and erases it. It cannot read one that reaches a class through a variable or a function, so that route or rule would be missing. Such a decorator also throws when it runs, and the worker would not start.',
    message: ({ name }) => `the decorator ${name} is used as a value, where the build cannot read it`,
    fix: ({ name }) => `write \`@${name}(…)\` on the class, method or parameter itself`,
  }),
  'decorator-misplaced': define<{ name: string; belongs: string }>({
    summary: 'A decorator of the SDK stands where it does not belong',
    why: 'The build erases the decorator without reading it there. The route, the event or the value that it declares would be missing, and no message would say so.',
    message: ({ name, belongs }) => `@${name} belongs on ${belongs}`,
    fix: () => 'move the decorator there, or remove it',
  }),
  'decorator-unknown': define<{ name: string; near: string | undefined; hint: string | undefined }>({
    summary: 'A decorator is imported from `@stack/backend`, which has no decorator of that name',
    why: 'The build would erase it like the decorators that exist, and it would declare nothing. Its purpose would be missing, and no message would say so.',
    message: ({ name, near, hint }) => `@stack/backend has no decorator "${name}"${hint ? '' : didYouMean(near)}`,
    fix: ({ near, hint }) => hint ?? (near ? `import and use \`${near}\`` : 'remove the decorator'),
  }),
  'option-not-constant': define<{ what: string; text: string; isClass?: boolean }>({
    summary: 'The build cannot compute an argument of a decorator',
    why: 'The build writes paths, names and rules into the route table as values, and erases the decorators. A value that only the running worker knows can be neither checked nor written there, and a guessed rule could leave a route open.',
    message: ({ what, text }) => `${what} must be known at build, and the build cannot compute \`${text}\``,
    fix: ({ isClass }) =>
      isClass
        ? 'write the name of a class that a file of this project exports'
        : 'write the literal itself, or the name of a `const` that holds it, in this file or imported',
  }),
  'option-unknown': define<{ key: string; where: string; known: string[]; near: string | undefined }>({
    summary: 'An option has an unknown name',
    why: 'An unknown option would have no effect. Where `auth` is misspelled, the rule would be missing. Where `role` is misspelled inside a rule, every signed-in user would be let in.',
    message: ({ key, where, near }) => `unknown option "${key}" in ${where}${didYouMean(near)}`,
    fix: ({ known, near }) =>
      near === undefined ? `use one of the known options: ${known.join(', ')}` : `write \`${near}\``,
  }),
  'option-missing': define<{ key: string; where: string; form: string }>({
    summary: 'A decorator lacks an option that it needs',
    why: 'The runtime verifies a delivery with the required options: `secret`, its `env`, and four of a `signature`. Without one of them it could not verify a delivery, or would have to guess the scheme.',
    message: ({ key, where }) => `${where} lacks the option "${key}"`,
    fix: ({ form }) => `add \`${form}\``,
  }),
  'option-malformed': define<{ what: string; expected: string; found: string }>({
    summary: 'An option or argument of a decorator has a value of the wrong kind or range',
    why: "The build writes the value into the route table unchanged. `auth: 'staff'` would let every signed-in user in, the container could not construct an object among the providers, and with `status: 204` every JSON answer would end in 500.",
    message: ({ what, expected, found }) => `${what} must be ${expected}, not ${found}`,
    fix: ({ expected }) => `write ${expected}`,
  }),
  'option-twice': define<{ key: string; where: string }>({
    summary: 'An option stands twice in the same object',
    why: 'JavaScript keeps only the last one. Where the option is `auth`, a reader could believe in a rule that is not in force.',
    message: ({ key, where }) => `"${key}" stands twice in ${where}`,
    fix: () => 'keep one of the two',
  }),
  'argument-missing': define<{ name: string; what: string; form: string }>({
    summary: 'A decorator lacks an argument that it needs',
    why: '`@Param()`, `@Query()` and `@Header()` without a name would inject `undefined` on every request. `@On()` without a key would bind its method to no event.',
    message: ({ name, what }) => `@${name} needs ${what}`,
    fix: ({ form }) => `write \`${form}\``,
  }),
  'argument-superfluous': define<{ name: string; takes: string }>({
    summary: 'A decorator is given more arguments than it takes',
    why: "The argument would have no effect, although it looks as if it had one: `@User('id')` would still inject the whole user.",
    message: ({ name, takes }) => `@${name} takes ${takes}, and this one is too much`,
    fix: () => 'remove this argument and those after it',
  }),
  'handler-unfit': define<{ name: string; reason: string }>({
    summary: 'A decorated member is not a public method of the instance, or its name is computed',
    why: 'The runtime calls a method of the instance by the name in the route table. An instance has no method that is static, `#private` or without a body, so every request would get 500. The body of a generator would never run, and the route table cannot hold a computed name.',
    message: ({ name, reason }) => `${name} cannot serve as a handler: it is ${reason}`,
    fix: () => 'make it a public method of the instance, with a name that is written out',
  }),
  'handler-twice': define<{ name: string; className: string }>({
    summary: 'A handler shares its name with another member of its class',
    why: 'A class has one value under each name: a later method replaces an earlier one, and a field hides a method. The route would call the other member, with the rule and the arguments of this one.',
    message: ({ name, className }) =>
      `${className} has two members named ${name}, and only one of them exists at run time`,
    fix: () => 'rename one of them',
  }),
  'decorator-foreign': define<{ name: string; from: string; known: string | undefined; hint: string | undefined }>({
    summary: "A decorator with a name of the SDK's, or of a server framework's, is not imported from the SDK",
    why: 'The build knows a decorator by its import, so `@Get` from `@nestjs/common` makes no row of the route table and its path would answer 404. The build does not erase it either: it runs as the worker loads, without its framework.',
    message: ({ name, from }) =>
      `this @${name} comes from ${from.includes(' ') ? from : `"${from}"`}, so the build does not read it`,
    fix: ({ known, hint }) =>
      hint ??
      (known ? `import ${known} from '@stack/backend'` : 'remove it: the worker has no code that reads what it sets'),
  }),
  'tsconfig-without-decorators': define<object>({
    severity: 'warning',
    summary: '`tsconfig.json` does not set `experimentalDecorators`',
    why: "The editor and `tsc` then report decorators of routes and of parameters as errors. The build erases the SDK's decorators either way. It compiles a project's own decorators as TC39 decorators, which get other arguments and cannot stand on parameters.",
    message: () => 'tsconfig.json does not set `experimentalDecorators`',
    fix: () => 'write `"experimentalDecorators": true` in `compilerOptions`',
  }),
  'tsconfig-with-metadata': define<object>({
    severity: 'warning',
    summary: '`tsconfig.json` sets `emitDecoratorMetadata`',
    why: 'The bundler ignores the flag and emits no metadata, and the build reads the types of a constructor from the source. A library that asks for `design:paramtypes` at run time finds nothing.',
    message: () => 'tsconfig.json sets `emitDecoratorMetadata`, and the bundler emits no metadata',
    fix: () => 'write `"emitDecoratorMetadata": false`, or remove it',
  }),
  'wrapper-not-called': define<{ name: string; kind: string; method: string; instead: string }>({
    severity: 'warning',
    summary: 'A provider is a guard, pipe, exception filter, interceptor or middleware of another framework',
    why: 'Only identity, the rule and the schemas of a route run before its handler. This class never runs, so it refuses, converts and records nothing. Without its guard, a route is as open as its rule says.',
    message: ({ name, kind, method }) =>
      `${name} is ${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}, and nothing calls its \`${method}\``,
    fix: ({ instead }) => instead,
  }),
  'hook-not-called': define<{ name: string; className: string }>({
    severity: 'warning',
    summary: 'A class has a method with the name of a lifecycle hook that other frameworks call',
    why: 'The runtime calls no lifecycle hook. The container constructs an instance at its first use, and the instance lives as long as its isolate. What such a method would prepare is missing.',
    message: ({ name, className }) =>
      name === 'configure'
        ? `nothing calls ${className}.configure: there is no middleware`
        : `nothing calls ${className}.${name}: there are no lifecycle hooks`,
    fix: ({ name }) =>
      name === 'configure'
        ? 'move the work into the handlers, or into functions that they call, and set who may call a route with the option `auth`'
        : 'move the work into the constructor, or into the handler where it needs a request',
  }),
}
