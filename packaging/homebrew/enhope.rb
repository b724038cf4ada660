# Homebrew on Linux. SOURCE_URL, SOURCE_SHA256 and HOMEPAGE are those of a published source archive
# (scripts/source-archive).
class Enhope < Formula
  desc "Supervised embeddings of labeled data, and classifiers with a few exemplars"
  homepage "HOMEPAGE"
  url "SOURCE_URL"
  version "0.2.0"
  sha256 "SOURCE_SHA256"
  license "MIT"

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "pkg-config" => :build
  depends_on "cairo"
  depends_on "cjson"
  depends_on "jpeg-turbo"
  depends_on "libmicrohttpd"
  depends_on "libpng"
  depends_on :linux
  depends_on "openblas"
  depends_on "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DENHOPE_TESTS=OFF", "-DENHOPE_BENCH=OFF",
           "-DENHOPE_CUDA=OFF", "-DENHOPE_MPI=OFF", "-DENHOPE_PYTHON=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    system bin/"enhope", "examples", "."
    system bin/"enhope", "train", "--data", "iris.csv", "--label", "species", "--quiet", "-o", "iris.safetensors"
    assert_match "error:", shell_output("#{bin}/enhope eval iris.safetensors --data test.csv")
  end
end
