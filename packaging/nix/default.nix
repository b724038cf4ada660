# nix-build packaging/nix: builds the sources of this clone. A source archive (scripts/source-archive) also has
# the page of enhope view, which a clone builds with npm.
{ pkgs ? import <nixpkgs> { } }:

pkgs.stdenv.mkDerivation {
  pname = "enhope";
  version = "0.2.0";
  src = ../..;
  nativeBuildInputs = with pkgs; [ cmake ninja pkg-config ];
  buildInputs = with pkgs; [ cairo cjson libjpeg libmicrohttpd libpng openblas zlib ];
  cmakeFlags = [
    "-DENHOPE_TESTS=OFF"
    "-DENHOPE_BENCH=OFF"
    "-DENHOPE_CUDA=OFF"
    "-DENHOPE_MPI=OFF"
    "-DENHOPE_PYTHON=OFF"
  ];
  meta = {
    description = "Supervised embeddings of labeled data, and classifiers that compare with a few exemplars";
    license = pkgs.lib.licenses.mit;
    platforms = pkgs.lib.platforms.linux;
  };
}
