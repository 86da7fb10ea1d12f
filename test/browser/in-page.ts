/**
 * The little of the DOM that these tests touch from within a page. Not the compiler's own library
 * of it: that would reach every package, and let code for servers use what only browsers have.
 */
export interface PageGlobals {
  readonly navigator: { readonly clipboard: { readText(): Promise<string> } };
  readonly document: {
    readonly documentElement: { readonly scrollWidth: number; readonly clientWidth: number };
    querySelectorAll(selector: string): Iterable<PageElement>;
    createRange(): PageRange;
    addEventListener(type: 'securitypolicyviolation', listener: (event: Violation) => void): void;
  };
  getComputedStyle(element: PageElement): {
    readonly outlineStyle: string;
    readonly outlineWidth: string;
    readonly boxShadow: string;
  };
}

export interface PageElement {
  readonly tagName: string;
  readonly childNodes: Iterable<PageNode>;
  /** Of a form: whether it is sent without the browser's own checks. */
  noValidate?: boolean;
  /** Of a field. */
  type?: string;
}

export interface PageNode {
  readonly nodeType: number;
  readonly textContent: string | null;
}

interface PageRange {
  setStart(node: PageNode, offset: number): void;
  setEnd(node: PageNode, offset: number): void;
  getBoundingClientRect(): { readonly left: number };
}

interface Violation {
  readonly effectiveDirective: string;
  readonly blockedURI: string;
}
